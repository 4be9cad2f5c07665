#include "runtime/driver/job_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "common/text.h"
#include "runtime/driver/cluster_jobs.h"
#include "runtime/driver/jobs.h"
#include "runtime/driver/slurm_head.h"
#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/step_log.h"

namespace radl::driver {
namespace {

std::string process_text(const jobs::ProcessState& process) {
  using Phase = jobs::ProcessState::Phase;
  if (process.phase == Phase::Running) return "running";
  if (process.exit < 0) return "killed";
  return process.exit == 0 ? "done" : fmt::format("ended with {}", process.exit);
}

// The state as reported by its nodes: the recorded state is "interrupted" from a step's start on.
std::string state_text(const JobView& job) {
  return job.runs() ? "running" : std::string(step_status_name(job.record->status));
}

// The last line of each node's output, from the log that an apply keeps on this computer: there secrets are
// masked.
std::map<std::string, std::string> last_lines(const StepRecord& job, const std::string& log_directory) {
  std::map<std::string, std::string> lines;
  std::ifstream in(log_directory + "/" + log_file_name(job.id));
  for (std::string line; std::getline(in, line);) {
    const size_t end = line.find("  ");
    if (end != line.npos &&
        std::find(job.nodes.begin(), job.nodes.end(), line.substr(0, end)) != job.nodes.end())
      lines[line.substr(0, end)] = line.substr(end + 2);
  }
  return lines;
}

// Use of the processes that run on a node; empty for a node that does not report it.
std::map<std::string, jobs::Usage> usages_of(JobNode& node, const Stop& stop) {
  std::vector<std::string> names;
  for (const auto& [name, process] : node.look.processes) {
    if (process.phase == jobs::ProcessState::Phase::Running) names.push_back(name);
  }
  if (names.empty()) return {};
  auto usages = node.member->usage(names, stop);
  return usages.ok() ? *usages : std::map<std::string, jobs::Usage>();
}

// `supervisor`: the process that follows it; "": none.
Json view_json(const JobView& job, const std::string& supervisor, const std::string& log_directory,
               const Stop& stop) {
  const auto& nodes = job.nodes;
  std::vector<std::map<std::string, jobs::Usage>> usages(nodes.size());
  (void)jobs::for_all(nodes.size(), [&](size_t i) -> Status {
    usages[i] = usages_of(*nodes[i], stop);
    return {};
  });
  const auto lines =
      job.earlier ? std::map<std::string, std::string>() : last_lines(*job.record, log_directory);
  Json json = {{"id", job.record->id}, {"state", state_text(job)}, {"members", Json::array()}};
  if (job.earlier) json["earlier"] = true;
  if (!supervisor.empty()) json["supervisor"] = supervisor;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const JobNode& node = *nodes[i];
    if (!node.status.ok())
      json["members"].push_back({{"node", node.handle.address}, {"error", node.status.message()}});
    for (const auto& [name, process] : node.look.processes) {
      Json member = {{"node", node.handle.address}, {"process", name}, {"state", process_text(process)}};
      if (auto used = usages[i].find(name); used != usages[i].end()) {
        if (used->second.stopped > 0) member["state"] = "stopped";
        member["processors"] = used->second.processors;
        member["memory_bytes"] = used->second.memory_bytes;
        member["received"] = used->second.received;
        member["sent"] = used->second.sent;
        if (used->second.gpu) member["gpu"] = *used->second.gpu;
        if (auto line = lines.find(node.handle.address); line != lines.end()) member["line"] = line->second;
      }
      json["members"].push_back(std::move(member));
    }
  }
  return json;
}

// A task of Slurm's as a job with a member for each of its nodes.
Json slurm_json(const QueuedTask& task, const Snapshot& state) {
  std::string word = to_lower(task.state);
  Json json = {{"id", kSlurmJobs + task.id}, {"state", word}, {"members", Json::array()}};
  if (task.waits()) json["reason"] = task.reason;
  for (const std::string& host : task.hosts) {
    const ResourceRecord* node = node_of_slurm_host(state, host);
    json["members"].push_back(
        {{"node", node ? node->address : host}, {"process", task.name}, {"state", word}});
  }
  if (task.hosts.empty()) json["members"].push_back({{"node", ""}, {"process", task.name}, {"state", word}});
  return json;
}

// Adds the Slurm jobs, if there is a Slurm.
void add_slurm_jobs(const Nodes& nodes, Json& all, const Stop& stop) {
  const ResourceRecord* head = slurm_head(nodes.state);
  if (!head) return;
  auto tasks = [&]() -> Result<std::vector<QueuedTask>> {
    auto remote = connect_to(nodes, *head);
    if (!remote.ok()) return std::move(remote).status();
    return slurm_queue(**remote, "", stop);
  }();
  if (!tasks.ok()) {
    all.push_back({{"id", "slurm"},
                   {"state", "unknown"},
                   {"members", {{{"node", head->address}, {"error", tasks.status().message()}}}}});
    return;
  }
  for (const QueuedTask& task : *tasks) all.push_back(slurm_json(task, nodes.state));
}

}  // namespace

Json job_queue(const Nodes& nodes, const Stop& stop) {
  const std::string logs = (std::filesystem::path(nodes.work_directory).parent_path() / "logs").string();
  Json all = Json::array();
  for (const StepRecord* job : jobs_of(nodes.state)) {
    for (const JobView& view : look_at_job(nodes, *job, stop)) {
      // For an older version, only running or unreachable processes are of interest.
      const bool shows = !view.earlier || view.runs() ||
                         std::any_of(view.nodes.begin(), view.nodes.end(),
                                     [](const auto& node) { return !node->status.ok(); });
      auto by = nodes.state.supervised.find(job->id);
      const bool supervised = by != nodes.state.supervised.end() && !view.earlier;
      if (shows) all.push_back(view_json(view, supervised ? by->second : "", logs, stop));
    }
  }
  add_slurm_jobs(nodes, all, stop);
  add_cluster_jobs(nodes, all, stop);
  return all;
}

}  // namespace radl::driver
