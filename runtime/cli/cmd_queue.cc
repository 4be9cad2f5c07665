// Which trainings, programs and jobs of Slurm, Ray and Spark run, and where.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "common/text.h"
#include "runtime/cli/cluster_jobs.h"
#include "runtime/cli/node_commands.h"
#include "runtime/cli/project.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/slurm_head.h"
#include "runtime/driver/jobs.h"
#include "runtime/steps/jobs/for_all.h"
#include "runtime/steps/step_log.h"

namespace radl::cli::queue_command {
namespace {

struct Options {
  ProjectOptions project;
  std::vector<std::string> words;  // FILE...
  bool json = false;
};

std::string state_of(const jobs::ProcessState& process) {
  using Phase = jobs::ProcessState::Phase;
  if (process.phase == Phase::Running) return "running";
  if (process.exit < 0) return "killed";
  return process.exit == 0 ? "done" : fmt::format("ended with {}", process.exit);
}

// The state as reported by its nodes: the recorded state is "interrupted" from a step's start on.
std::string state_of(const JobView& job) {
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
Json json_of(const JobView& job, const std::string& supervisor, const std::string& log_directory,
             const Stop& stop) {
  const auto& nodes = job.nodes;
  std::vector<std::map<std::string, jobs::Usage>> usages(nodes.size());
  (void)jobs::for_all(nodes.size(), [&](size_t i) -> Status {
    usages[i] = usages_of(*nodes[i], stop);
    return {};
  });
  const auto lines =
      job.earlier ? std::map<std::string, std::string>() : last_lines(*job.record, log_directory);
  Json json = {{"id", job.record->id}, {"state", state_of(job)}, {"members", Json::array()}};
  if (job.earlier) json["earlier"] = true;
  if (!supervisor.empty()) json["supervisor"] = supervisor;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const JobNode& node = *nodes[i];
    if (!node.status.ok())
      json["members"].push_back({{"node", node.handle.address}, {"error", node.status.message()}});
    for (const auto& [name, process] : node.look.processes) {
      Json member = {{"node", node.handle.address}, {"process", name}, {"state", state_of(process)}};
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
Json json_of(const QueuedTask& task, const Snapshot& state) {
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
void add_slurm(const Nodes& nodes, Json& all, const Stop& stop) {
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
  for (const QueuedTask& task : *tasks) all.push_back(json_of(task, nodes.state));
}

std::string figures_of(const Json& member) {
  if (!member.contains("processors")) return "";
  jobs::Usage usage{member["processors"], member["memory_bytes"], member["received"], member["sent"], {}, 0};
  if (member.contains("gpu")) usage.gpu = member["gpu"].get<double>();
  const std::string line = member.value("line", "");
  return "  " + jobs::usage_text(usage) + (line.empty() ? "" : "  " + line);
}

void print(const Json& job) {
  const std::string supervisor = job.value("supervisor", "");
  std::printf("%s%s  %s\n", shown(job.at("id").get<std::string>()).c_str(),
              job.contains("earlier") ? " (an earlier version)" : "",
              (job.at("state").get<std::string>() +
               (job.contains("reason") ? ": " + shown(job.value("reason", "")) : "") +
               (supervisor.empty() ? "" : ", supervised: " + shown(supervisor)))
                  .c_str());
  for (const Json& member : job.at("members"))
    std::printf("  %-16s %-12s %s%s\n", shown(member.value("node", "")).c_str(),
                shown(member.value("process", "-")).c_str(),
                shown(member.contains("error") ? "cannot be asked: " + member.value("error", "")
                                               : member.value("state", ""))
                    .c_str(),
                shown(figures_of(member)).c_str());
}

int run_queue(const Session& session, Options& options) {
  take_files(options.words, options.project);
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  const Stop stop = cancellation.finishing();
  auto nodes = load_nodes(session.host, options.project, stop);
  if (!nodes.ok()) return report(session, nodes.status());
  const std::string logs = (std::filesystem::path(nodes->work_directory).parent_path() / "logs").string();
  Json all = Json::array();
  for (const StepRecord* job : jobs_of(nodes->state)) {
    for (const JobView& view : look_at_job(*nodes, *job, stop)) {
      // For an older version, only running or unreachable processes are of interest.
      const bool shows = !view.earlier || view.runs() ||
                         std::any_of(view.nodes.begin(), view.nodes.end(),
                                     [](const auto& node) { return !node->status.ok(); });
      auto by = nodes->state.supervised.find(job->id);
      const bool supervised = by != nodes->state.supervised.end() && !view.earlier;
      if (shows) all.push_back(json_of(view, supervised ? by->second : "", logs, stop));
    }
  }
  add_slurm(*nodes, all, stop);
  add_cluster_jobs(*nodes, all, stop);
  if (Status stopped = stop.check(); !stopped.ok()) return report(session, stopped);
  if (options.json) {
    std::printf("%s\n", all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return kDone;
  }
  for (const Json& job : all) print(job);
  if (all.empty()) std::printf("%s has no trainings, programs or jobs.\n", shown(nodes->state.name).c_str());
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand(
      "queue", "Show which trainings, programs and jobs of Slurm, Ray and Spark run, and where");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project, &options->words);
  command->add_flag("--json", options->json, "print only JSON");
  return [options, &session] { return run_queue(session, *options); };
}

}  // namespace radl::cli::queue_command
