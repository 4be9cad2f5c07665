// Runs one script on nodes that exist, without a change of the file (docs/farm.md).
#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/cli/node_commands.h"
#include "runtime/cli/project.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/script_run.h"

namespace radl::cli::run_command {
namespace {

struct Options {
  ProjectOptions project;
  std::vector<std::string> words;  // FILE..., SCRIPT, ARG...
  ScriptRequest request;
};

int run(const Session& session, Options& options) {
  take_files(options.words, options.project);
  if (options.words.empty())
    return report(session, invalid("a script is required").with_hint("radlc run SCRIPT -- ARGUMENT..."));
  options.request.script = options.words.front();
  options.request.arguments.assign(options.words.begin() + 1, options.words.end());
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  auto end =
      run_script(session.host, options.project, options.request, cancellation.finishing(), tell_on_stderr());
  if (!end.ok()) return report(session, end.status());
  std::fwrite(end->output.data(), 1, end->output.size(), stdout);
  if (end->succeeded) return kDone;
  return end->exit_status > 0 ? end->exit_status : kWorldError;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("run", "Run a script on a node with free resources, and fetch its results");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project, &options->words);
  command->add_option("SCRIPT",
                      "script of this computer: Python (.py) or shell; its arguments come after --");
  command->add_option("--on", options->request.on, "a node or system (default: every node)")
      ->type_name("NODE");
  command->add_option("--cpu", options->request.cpu, "processors that it needs")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--gpu", options->request.gpu, "GPUs that it needs")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--results", options->request.results, "folder for its results (default: NAME-results)")
      ->type_name("DIR");
  return [options, &session] { return run(session, *options); };
}

}  // namespace radl::cli::run_command
