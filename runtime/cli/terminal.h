// Terminal and process properties: color, width, interactivity, and the program's location.
#pragma once

#include <string>

#include "runtime/cli/command.h"

namespace radl::cli {

Terminal detect_terminal(bool no_color);
// Asks on the terminal. False for anything but "yes", and at the end of input.
bool confirm(const std::string& question);
// Why a command that needs a confirmation fails if Terminal::can_ask is false.
inline constexpr const char* kCannotConfirm =
    "this is not an interactive terminal, so radlc cannot ask for confirmation";
// Reads a line; with `hidden`, without echo. "" at the end of input and on a stop request, which is passed to
// an outer SignalGuard or, if there is none, ends the process by SIGINT.
std::string ask_line(const std::string& question, bool hidden);

}  // namespace radl::cli
