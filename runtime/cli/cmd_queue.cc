// Which trainings and programs run, and where.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/cli/jobs.h"
#include "runtime/cli/project.h"
#include "runtime/cli/shown.h"

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

// As its nodes have it: the state says "interrupted" from a step's begin on.
std::string state_of(const StepRecord& job, const std::vector<std::unique_ptr<JobNode>>& nodes) {
  for (const auto& node : nodes) {
    if (node->runs()) return "running";
  }
  return std::string(step_status_name(job.status));
}

Json json_of(const StepRecord& job, const std::vector<std::unique_ptr<JobNode>>& nodes) {
  Json json = {{"id", job.id}, {"state", state_of(job, nodes)}, {"members", Json::array()}};
  for (const auto& node : nodes) {
    if (!node->status.ok())
      json["members"].push_back({{"node", node->handle.address}, {"error", node->status.message()}});
    for (const auto& [name, process] : node->look.processes)
      json["members"].push_back(
          {{"node", node->handle.address}, {"process", name}, {"state", state_of(process)}});
  }
  return json;
}

void print(const Json& job) {
  std::printf("%s  %s\n", shown(job.at("id").get<std::string>()).c_str(),
              job.at("state").get<std::string>().c_str());
  for (const Json& member : job.at("members"))
    std::printf("  %-16s %-12s %s\n", shown(member.value("node", "")).c_str(),
                shown(member.value("process", "-")).c_str(),
                shown(member.contains("error") ? "cannot be asked: " + member.value("error", "")
                                               : member.value("state", ""))
                    .c_str());
}

int run_queue(const Session& session, Options& options) {
  take_files(options.words, options.project);
  auto nodes = load_nodes(options.project);
  if (!nodes.ok()) return report(session, nodes.status());
  Json all = Json::array();
  for (const StepRecord* job : jobs_of(nodes->state)) all.push_back(json_of(*job, look_at_job(*nodes, *job)));
  if (options.json) {
    std::printf("%s\n", all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return kDone;
  }
  for (const Json& job : all) print(job);
  if (all.empty()) std::printf("%s has no trainings and no programs.\n", shown(nodes->state.name).c_str());
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("queue", "Show which trainings and programs run, and where");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project, &options->words);
  command->add_flag("--json", options->json, "JSON only");
  return [options, &session] { return run_queue(session, *options); };
}

}  // namespace radl::cli::queue_command
