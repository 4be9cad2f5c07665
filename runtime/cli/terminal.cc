#include "runtime/cli/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>

#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"

namespace radl::cli {
namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// False: somebody asked to stop first.
bool wait_for_input(const Stop& stop) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (std::cin.rdbuf()->in_avail() <= 0) {
    if (stop.asked()) return false;
    if (::poll(&input, 1, 50) > 0) return true;
  }
  return true;
}

// A line of standard input; "" if somebody asks to stop, which then also ends whatever asks: the outer guard
// hears of it, or, if there is none, the process ends by its signal.
std::string read_line(const std::function<void()>& after) {
  std::string line;
  Cancellation cancellation;
  bool ends = false;
  {
    SignalGuard guard(cancellation);
    if (wait_for_input(cancellation.finishing())) std::getline(std::cin, line);
    ends = cancellation.stop_starting() && !guard.is_inner();
  }
  after();
  if (ends) (void)std::raise(SIGINT);
  return line;
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
  std::fprintf(stderr, "%s ", shown(question).c_str());
  std::fflush(stderr);
  termios saved{};
  bool silenced = hidden && ::tcgetattr(STDIN_FILENO, &saved) == 0;
  if (silenced) {
    termios quiet = saved;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
  }
  return read_line([&] {
    if (!silenced) return;
    ::tcsetattr(STDIN_FILENO, TCSANOW, &saved);
    std::fputc('\n', stderr);
  });
}

}  // namespace radl::cli
