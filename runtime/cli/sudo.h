// The password that sudo asks for on nodes, as a user gives it for one run.
#pragma once

#include <string>

#include "common/status.h"
#include "runtime/cli/command.h"

namespace CLI {
class App;
}

namespace radl::cli {

// --ask-sudo-password, of what runs steps or gives machines back.
void add_sudo_option(CLI::App& command, bool& ask);

// Asked for on the terminal, else RADL_SUDO_PASSWORD, which is taken out of the environment: no program that
// radlc runs sees it. Empty: none is given. Invalid: there is no interactive terminal.
Result<std::string> given_sudo_password(const Session& session, bool ask);

}  // namespace radl::cli
