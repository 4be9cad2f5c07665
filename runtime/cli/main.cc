// radlc: parses the command line, runs one command, turns its outcome into an exit code.
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

#include "common/command_line/help.h"
#include "common/process/process.h"
#include "common/standard_files.h"
#include "common/version.h"
#include "runtime/cli/arguments.h"
#include "runtime/cli/command.h"
#include "runtime/cli/huge_pages.h"
#include "runtime/cli/process_host.h"
#include "runtime/cli/service_commands.h"
#include "runtime/cli/terminal.h"

namespace {

constexpr char kFooter[] =
    "First steps: radlc demo, then radlc plan FILE.radl, radlc apply FILE.radl, radlc destroy FILE.radl\n"
    "Manual: man radlc, man 5 radl. `radlc COMMAND --help` shows the options of a command.";

using radl::cli::Command;

// The command named by the arguments; null if the first word is not a command.
const Command* named_command(const std::vector<std::string>& arguments) {
  auto word = std::find_if(arguments.begin(), arguments.end(),
                           [](const std::string& each) { return !each.starts_with("-"); });
  if (word == arguments.end()) return nullptr;
  const std::vector<Command>& all = radl::cli::commands();
  auto found = std::find_if(all.begin(), all.end(), [&](const Command& each) { return each.name == *word; });
  return found == all.end() ? nullptr : &*found;
}

int run(int argc, char** argv) {
  using namespace radl::cli;
  static Session& session = *new Session;  // never taken apart: what commands keep in it is large

  CLI::App app{"radlc - from one .radl file to nodes, configured, and a trained model", "radlc"};
  app.require_subcommand(0, 1);
  app.fallthrough();
  app.formatter(radl::help_formatter());
  app.add_flag("--no-color", session.no_color, "plain text (also: NO_COLOR, CI, or no terminal)");
  app.add_option("--server", session.server,
                 "run the command on this `radlc serve` (see radlc login and docs/service-cli.md)")
      ->type_name("URL");
  bool version = false;
  app.add_flag("-V,--version", version, "print the version and exit");

  std::vector<std::string> arguments = with_help_option({argv + 1, argv + argc});
  // The command is the first word that is not an option.
  for (size_t i = 0; i + 1 < arguments.size() && arguments[i].starts_with("-"); ++i) {
    if (arguments[i] != "--server") continue;
    arguments[i] += "=" + arguments[i + 1];
    arguments.erase(arguments.begin() + ptrdiff_t(i) + 1);
  }
  // Options of other commands are not set up: that would be much of a short run's time. Completions show all.
  const Command* named = named_command(arguments);
  if (named != nullptr && named->name == "completions") named = nullptr;
  std::function<int()> chosen;
  for (const Command& command : commands()) {
    if (named != nullptr && &command != named) continue;
    size_t before = app.get_subcommands({}).size();
    std::function<int()> action = command.add(app, session);
    CLI::App* added = app.get_subcommands({}).size() > before ? app.get_subcommands({}).back() : nullptr;
    if (added == nullptr) continue;
    added->group(std::string(command.group));
    added->footer("Example: " + std::string(command.example));
    added->callback([&chosen, action] { chosen = action; });
  }

  app.footer(kFooter);  // after the commands, which would inherit it

  one_value_each(app);
  arguments = with_double_dashes(app, std::move(arguments));
  if (named && std::string_view(named->name) == "exec") arguments = with_command_line(std::move(arguments));
  if (std::string wrong = unknown_command(app, arguments); !wrong.empty()) {
    std::fprintf(stderr, "error: %s\n  run `radlc --help` for the commands\n", wrong.c_str());
    return kUserError;
  }
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // as CLI11 wants them
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    std::string wrong = dynamic_cast<const CLI::ExtrasError*>(&error) ? unknown_option(app, arguments) : "";
    std::string command = named != nullptr ? std::string(named->name) : "";
    if (wrong.empty() && named != nullptr) wrong = unknown_command(*app.get_subcommand(command), arguments);
    if (wrong.empty()) wrong = error.what();
    std::fprintf(stderr, "error: %s\n  run `radlc %s--help` for its options\n", wrong.c_str(),
                 command.empty() ? "" : (command + " ").c_str());
    return kUserError;
  }
  if (std::string wrong = empty_option(app); !wrong.empty()) {
    std::fprintf(stderr, "error: %s\n", wrong.c_str());
    return kUserError;
  }
  session.terminal = detect_terminal(session.no_color);
  session.host = process_host();
  if (version) {
    std::printf("radlc %s\n", radl::kVersionText);
    return kDone;
  }
  if (!session.server.empty() && chosen) {
    const radl::Status fits = fits_service(*app.get_subcommands().front());
    if (!fits.ok()) return report(session, fits);
  }
  if (!chosen) {
    std::fputs(app.help().c_str(), stdout);
    return kUserError;
  }
  return chosen();
}

// Undelivered output is a failure, except if the reader (a pager) has closed its input.
int after_output(int code) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  const int error = errno;
  pollfd reader{STDOUT_FILENO, POLLOUT, 0};
  if (error == EPIPE || (::poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0)) return code;
  std::fprintf(stderr, "error: standard output: %s\n",
               error != 0 ? std::strerror(error) : "cannot be written");
  return code == 0 ? static_cast<int>(radl::cli::kWorldError) : code;
}

// Of 2 MiB in place of 8: ten threads reserve 60 MiB less. Where it cannot be had, they stay as they are.
void small_thread_stacks() {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return;
  if (::pthread_attr_setstacksize(&attributes, size_t{2} << 20) == 0)
    ::pthread_setattr_default_np(&attributes);
  ::pthread_attr_destroy(&attributes);
}

}  // namespace

// Threads share their heaps, jemalloc's (it reads this name at its start) and the C library's: one for each
// thread reserves address space that a login with `ulimit -v` does not have, and jemalloc 5.3 crashes in a
// new thread for which it can make none.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "narenas:1";
}

int main(int argc, char** argv) {
  radl::hold_standard_files();
  // A package's loader starts this program, and the kernel would name the process after the loader.
  (void)::prctl(PR_SET_NAME, "radlc");
  radl::forbid_core_dumps();
  radl::forbid_inspection();
  (void)::mallopt(M_ARENA_MAX, 2);
  radl::cli::use_huge_pages_for_much();
  small_thread_stacks();
  // One buffer for nearly every result: stdio keeps the cause of an error only until its next call.
  static char buffer[size_t{1} << 20];
  if (::isatty(STDOUT_FILENO) == 0) std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pager is no reason to leave a run half done
  try {
    return after_output(run(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr,
                 "radlc: internal error: %s\nThis is a fault of radlc; please report it with the command "
                 "that you ran.\n",
                 error.what());
    return radl::cli::kWorldError;
  }
}
