#include "runtime/driver/cluster_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/json_values.h"
#include "common/shell_quote.h"
#include "common/text.h"
#include "runtime/driver/slurm_head.h"

namespace radl::driver {
namespace {

constexpr size_t kNewestEnded = 5;
constexpr const char* kRayPort = "8265";
constexpr const char* kSparkPort = "8080";
constexpr int kAnswerSeconds = 10;

using json::text_of;

double begun_at(const Json& job) {
  for (const char* key : {"start_time", "starttime"})
    if (const auto time = job.find(key); time != job.end() && time->is_number()) return time->get<double>();
  return 0;
}

bool has_ended(const std::string& state) {
  constexpr std::string_view kEnds[] = {"succeeded", "failed", "stopped", "finished", "killed", "error"};
  return std::find(std::begin(kEnds), std::end(kEnds), state) != std::end(kEnds);
}

// All running jobs and the newest ended ones, oldest first.
std::vector<ClusterJob> shown_jobs(std::vector<std::pair<double, ClusterJob>> jobs) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<ClusterJob> shown;
  size_t ended = 0;
  for (auto& [time, job] : jobs)
    if (!has_ended(job.state) || ++ended <= kNewestEnded) shown.push_back(std::move(job));
  std::reverse(shown.begin(), shown.end());
  return shown;
}

// One head: what its jobs are called before their ids, where it answers, and how that is read.
struct Head {
  const char* kind;
  const ResourceRecord* node;
  std::string url;
  Result<std::vector<ClusterJob>> (*read)(std::string_view);
};

// The word that follows `name` in a command line.
std::string option_of(const std::string& command, const std::string& name, const std::string& otherwise) {
  const size_t at = command.find(name);
  if (at == command.npos) return otherwise;
  const std::string value = command.substr(at + name.size());
  return value.substr(0, value.find_first_of(" '\""));
}

std::optional<Head> head_of(const Json& resource, const ResourceRecord& node) {
  const std::string type = resource.value("type", "");
  std::string name = resource.value("name", "");
  // A command whose text is known only after apply.
  const Json properties = resource.value("properties", Json::object());
  if (const auto text = properties.find(ir::kNameProperty); text != properties.end()) name = text->dump();
  if (type == "command" && name.find("ray.scripts.scripts start ") != name.npos &&
      name.find(" --head") != name.npos)
    return Head{"ray", &node,
                "http://127.0.0.1:" + option_of(name, "--dashboard-port=", kRayPort) + "/api/jobs/",
                read_ray_jobs};
  if ((type == "service" || type == "command") && name.find("spark-master") != name.npos) {
    const std::string address = node.attributes.value("private_ip", "127.0.0.1");
    return Head{"spark", &node, fmt::format("http://{}:{}/json/", address, kSparkPort), read_spark_jobs};
  }
  return std::nullopt;
}

std::vector<Head> heads_of(const Snapshot& state) {
  std::vector<Head> heads;
  const auto known = [&](const Head& one) {
    return std::any_of(heads.begin(), heads.end(),
                       [&](const Head& head) { return head.node == one.node && head.url == one.url; });
  };
  for (const auto& [id, record] : state.steps) {
    if (record.nodes.size() != 1 || !record.definition) continue;
    const auto node = state.resources.find(record.nodes.front());
    if (node == state.resources.end()) continue;
    for (const Json& resource : record.definition->value("resources", Json::array()))
      if (auto head = head_of(resource, node->second); head && !known(*head)) heads.push_back(*head);
  }
  return heads;
}

// By the node's own curl or Python: the heads listen there.
Result<std::string> ask_head(const Nodes& nodes, const Head& head, const Stop& stop) {
  auto remote = connect_to(nodes, *head.node);
  if (!remote.ok()) return std::move(remote).status();
  const std::string url = shell_quote(head.url);
  return output_of(
      **remote,
      fmt::format("if command -v curl > /dev/null 2>&1; then curl -sS --fail --noproxy '*' -m {0} {1}; else "
                  "python3 -c 'import sys, urllib.request as r; "
                  "print(r.build_opener(r.ProxyHandler({{}})).open(sys.argv[1], "
                  "timeout={0}).read().decode())' {1}; fi",
                  kAnswerSeconds, url),
      "", stop);
}

Json json_of(const Head& head, const ClusterJob& job) {
  Json json = {{"id", std::string(head.kind) + "/" + job.id},
               {"state", job.state},
               {"members", {{{"node", head.node->address}, {"process", job.name}, {"state", job.state}}}}};
  if (!job.reason.empty()) json["reason"] = job.reason;
  return json;
}

}  // namespace

Result<std::vector<ClusterJob>> read_ray_jobs(std::string_view text) {
  const Json answer = Json::parse(text, nullptr, false);
  if (!answer.is_array()) return invalid("Ray's head does not list its jobs");
  std::vector<std::pair<double, ClusterJob>> jobs;
  for (const Json& one : answer) {
    if (!one.is_object()) return invalid("Ray's head lists a job that is not an object");
    ClusterJob job;
    job.id = text_of(one, "submission_id");
    if (job.id.empty()) job.id = text_of(one, "job_id");
    job.name = text_of(one, "entrypoint");
    job.state = to_lower(text_of(one, "status"));
    if (job.state == "pending" || job.state == "failed") job.reason = text_of(one, "message");
    jobs.emplace_back(begun_at(one), std::move(job));
  }
  return shown_jobs(std::move(jobs));
}

Result<std::vector<ClusterJob>> read_spark_jobs(std::string_view text) {
  const Json answer = Json::parse(text, nullptr, false);
  if (!answer.is_object() || !answer.contains("activeapps"))
    return invalid("Spark's master does not list its applications");
  std::vector<std::pair<double, ClusterJob>> jobs;
  for (const char* list : {"activedrivers", "completeddrivers", "activeapps", "completedapps"}) {
    for (const Json& one : json::list_of(answer, list)) {
      if (!one.is_object()) return invalid("Spark's master lists an application that is not an object");
      ClusterJob job;
      job.id = text_of(one, "id");
      job.name = text_of(one, "name");
      if (job.name.empty()) job.name = text_of(one, "mainclass");
      job.state = to_lower(text_of(one, "state"));
      jobs.emplace_back(begun_at(one), std::move(job));
    }
  }
  return shown_jobs(std::move(jobs));
}

void add_cluster_jobs(const Nodes& nodes, Json& all, const Stop& stop) {
  for (const Head& head : heads_of(nodes.state)) {
    auto jobs = [&]() -> Result<std::vector<ClusterJob>> {
      auto text = ask_head(nodes, head, stop);
      return text.ok() ? head.read(*text) : Result<std::vector<ClusterJob>>(text.status());
    }();
    if (!jobs.ok()) {
      all.push_back({{"id", head.kind},
                     {"state", "unknown"},
                     {"members", {{{"node", head.node->address}, {"error", jobs.status().message()}}}}});
      continue;
    }
    for (const ClusterJob& job : *jobs) all.push_back(json_of(head, job));
  }
}

}  // namespace radl::driver
