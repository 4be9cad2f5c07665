// `radlc state pull`, `push` and `migrate`: move states between places.
#pragma once

#include <functional>
#include <string>

#include "runtime/cli/command.h"
#include "runtime/cli/project.h"

namespace radl::cli {

// Adds the three to `radlc state`; the called one sets `chosen`.
void add_state_place_commands(CLI::App& state, Session& session,
                              const std::shared_ptr<std::function<int()>>& chosen);

}  // namespace radl::cli
