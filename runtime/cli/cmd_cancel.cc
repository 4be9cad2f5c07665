// Ends a running training, program or Slurm job.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/cli/project.h"
#include "runtime/cli/service_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/job_cancel.h"

namespace radl::cli::cancel_command {
namespace {

struct Options {
  ProjectOptions project;
  std::vector<std::string> words;  // FILE..., JOB
};

int run_cancel(const Session& session, Options& options) {
  take_files(options.words, options.project);
  if (options.words.size() > 1) return report(session, invalid("one job at a time: " + options.words.back()));
  const std::string word = options.words.empty() ? "" : options.words.front();
  if (!session.server.empty()) return cancel_on_service(session, {.project = options.project, .word = word});
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  auto done = cancel_job(session.host, options.project, word, cancellation.finishing(), tell_on_stderr());
  if (!done.ok()) return report(session, done.status());
  const std::string where =
      !done->nodes ? "" : fmt::format(" on {} node{}", *done->nodes, *done->nodes == 1 ? "" : "s");
  std::printf("%s is cancelled%s.\n", shown(done->id).c_str(), where.c_str());
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("cancel", "End a running training, program or Slurm job");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project, &options->words);
  command->add_option(
      "JOB", "for example 'program/solve', 'solve', or 'slurm/12' (default: the only training or program)");
  return [options, &session] { return run_cancel(session, *options); };
}

}  // namespace radl::cli::cancel_command
