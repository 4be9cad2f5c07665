#include "runtime/cli/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"

namespace radl::cli {
namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// False: a stop was requested first.
bool wait_for_input(const Stop& stop) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (std::cin.rdbuf()->in_avail() <= 0) {
    if (stop.asked()) return false;
    if (::poll(&input, 1, 50) > 0) return true;
  }
  return true;
}

}  // namespace

Terminal detect_terminal(bool no_color) {
  Terminal terminal;
  terminal.is_terminal = ::isatty(STDOUT_FILENO) == 1;
  bool automation = is_set("CI");
  terminal.can_ask = terminal.is_terminal && ::isatty(STDIN_FILENO) == 1 && !automation;
  const char* kind = std::getenv("TERM");
  bool dumb = kind == nullptr || std::string_view(kind) == "dumb";
  const char* force = std::getenv("CLICOLOR_FORCE");
  bool forced = force != nullptr && *force != '\0' && std::string_view(force) != "0";
  terminal.color =
      !is_set("NO_COLOR") && !no_color && (forced || (terminal.is_terminal && !dumb && !automation));
  winsize size{};
  if (terminal.is_terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.width = size.ws_col;
  }
  return terminal;
}

bool confirm(const std::string& question) { return ask_line(question, false) == "yes"; }

std::string ask_line(const std::string& question, bool hidden) {
  std::string line;
  Cancellation cancellation;
  bool ends = false;
  {
    // Active before the question is printed, because the user may press Ctrl-C as soon as it appears.
    SignalGuard guard(cancellation);
    std::fprintf(stderr, "%s ", shown(question).c_str());
    std::fflush(stderr);
    termios saved{};
    const bool silenced = hidden && ::tcgetattr(STDIN_FILENO, &saved) == 0;
    if (silenced) {
      termios quiet = saved;
      quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
      ::tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
    }
    if (!guard.was_asked_outside() && wait_for_input(cancellation.finishing())) std::getline(std::cin, line);
    if (silenced) {
      ::tcsetattr(STDIN_FILENO, TCSANOW, &saved);
      std::fputc('\n', stderr);
    }
    ends = cancellation.stop_starting() && !guard.is_inner();
  }
  if (ends) (void)std::raise(SIGINT);
  return line;
}

}  // namespace radl::cli
