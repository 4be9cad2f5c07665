// `radlc serve token`: the tokens of a service's users.
#pragma once

#include <functional>
#include <string>

#include "runtime/cli/command.h"

namespace radl::cli {

// The folder given, or the user's own. Invalid: there is no home folder.
Status set_service_folder(const Session& session, std::string& folder);
// The user whose service it is: that of this process.
std::string service_owner(const Session& session);

// Prints a link that opens the page, or why there is none.
int show_link(const Session& session, const Result<std::string>& link);

// Sets `chosen` when the user chose one of them. `folder`, of `serve --folder`, outlives the commands.
void add_token_commands(CLI::App& serve, Session& session, std::string& folder, std::function<int()>& chosen);

}  // namespace radl::cli
