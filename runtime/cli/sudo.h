// The sudo password for nodes, given by the user for one run.
#pragma once

#include <string>

#include "common/status.h"
#include "runtime/cli/command.h"

namespace CLI {
class App;
}

namespace radl::cli {

// Adds --ask-sudo-password to commands that run steps or release machines.
void add_sudo_option(CLI::App& command, bool& ask);

// Asked on the terminal, else RADL_SUDO_PASSWORD, which is removed from the environment so that no program
// started by radlc sees it. Empty: not given. Invalid: the terminal is not interactive.
Result<std::string> given_sudo_password(const Session& session, bool ask);

}  // namespace radl::cli
