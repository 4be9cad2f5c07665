// radl-train: parses the command line, runs one command, turns its outcome into an exit code (docs/job.md).
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>

#include "common/command_line/help.h"
#include "common/process/process.h"
#include "common/standard_files.h"
#include "common/version.h"
#include "engine/cli/command.h"

namespace {

using namespace radl::engine::cli;

radl::StopSource interrupted;

// The first signal asks the command to stop and save; the second ends the process.
void on_signal(int number) {
  if (!interrupted.requested()) return interrupted.request();
  ::signal(number, SIG_DFL);
  ::raise(number);
}

bool can_draw() {
  const char* term = std::getenv("TERM");
  return ::isatty(2) && term && std::string_view(term) != "dumb" && !std::getenv("CI");
}

// `radl-train JOB.json` is `radl-train train JOB.json`.
void imply_train(const CLI::App& app, std::vector<std::string>& arguments) {
  for (auto it = arguments.begin(); it != arguments.end(); ++it) {
    if (it->rfind("-", 0) == 0) continue;
    const auto subcommands = app.get_subcommands({});
    const bool known = std::any_of(subcommands.begin(), subcommands.end(),
                                   [&](const CLI::App* s) { return s->check_name(*it); });
    if (!known && (it->ends_with(".json") || it->find('/') != std::string::npos))
      arguments.insert(it, "train");
    return;
  }
}

int run(int argc, char** argv) {
  struct sigaction action {};
  action.sa_handler = on_signal;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);

  Context context;
  context.program = argv[0];
  context.stop = interrupted.token();
  context.terminal = can_draw();

  CLI::App app{"radl-train - trains, evaluates, serves and converts models", "radl-train"};
  app.require_subcommand(1);
  app.set_version_flag("-V,--version", std::string("radl-train ") + radl::kVersionText);
  app.formatter(radl::help_formatter());
  std::function<int()> chosen;
  for (const Command& command : commands()) {
    const size_t before = app.get_subcommands({}).size();
    std::function<int()> body = command.add(app, context);
    if (app.get_subcommands({}).size() == before) continue;
    CLI::App* added = app.get_subcommands({}).back();
    added->group(std::string(command.group));
    const std::string more = added->get_footer();
    added->footer("Example: " + std::string(command.example) + (more.empty() ? "" : "\n" + more));
    added->final_callback([&chosen, body] { chosen = body; });
  }
  // After the commands, which would inherit it.
  app.footer(
      "radl-train JOB.json runs a job file (docs/job.md).\n"
      "Manual: man radl-train. `radl-train COMMAND --help` shows the options of a command.\n"
      "Exit status: 0 done, 1 wrong job, data or command line, 2 a disk, peer or network failed,\n"
      "130 interrupted.");
  std::vector<std::string> arguments(argv + 1, argv + argc);
  imply_train(app, arguments);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUserError;
  }
  return chosen ? chosen() : kUserError;
}

}  // namespace

int main(int argc, char** argv) {
  radl::hold_standard_files();
  // On a node, the bundle's loader starts this program, and the kernel would name the process after the
  // loader. Auto-stop (runtime/clouds/auto_stop.cc) finds a training by this name.
  (void)::prctl(PR_SET_NAME, "radl-train");
  radl::forbid_core_dumps();
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "radl-train: out of memory\n");
    return kWorldError;
  } catch (const std::exception& error) {
    fmt::print(stderr, "radl-train: internal error: {}\n", error.what());
    return kWorldError;
  }
}
