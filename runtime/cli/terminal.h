// What the terminal and this process are: colour, width, whether somebody can answer, where the program lies.
#pragma once

#include <string>

#include "runtime/cli/command.h"

namespace radl::cli {

Terminal detect_terminal(bool no_color);
// Asks on the terminal; false for anything but "yes", and at end of input.
bool confirm(const std::string& question);
// Why a command that needs a confirmation fails where Terminal::can_ask is false.
inline constexpr const char* kCannotConfirm =
    "this is not an interactive terminal, so radlc cannot ask for confirmation";
// Reads a line; with `hidden` the terminal does not show it. "" at end of input, and if somebody asks to
// stop: an outer SignalGuard hears of it, or, if there is none, the process ends by SIGINT.
std::string ask_line(const std::string& question, bool hidden);

}  // namespace radl::cli
