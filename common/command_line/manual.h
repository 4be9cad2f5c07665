// Parts of manual pages in man(7) macros.
#pragma once

#include <string>

#include "common/command_line/outline.h"

namespace radl {

// Escapes text for roff: backslashes, dashes (so that options can be copied), and control characters at the
// start of a line.
std::string roff(const std::string& text);

// The section OPTIONS: those of the program itself.
std::string manual_options(const CommandOutline& program);
// The section COMMANDS: each command with its positionals, options and examples.
std::string manual_commands(const CommandOutline& program);

}  // namespace radl
