// Which trainings, programs and jobs of Slurm, Ray and Spark run, and where.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/cli/node_commands.h"
#include "runtime/cli/project.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/driver/job_queue.h"
#include "runtime/steps/jobs/member.h"

namespace radl::cli::queue_command {
namespace {

struct Options {
  ProjectOptions project;
  std::vector<std::string> words;  // FILE...
  bool json = false;
};

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
  const Json all = job_queue(*nodes, stop);
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
