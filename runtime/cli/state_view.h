// Prints a state for `radlc show` and `radlc output`: a local one, or one from a service.
#pragma once

#include <set>
#include <string>

#include "runtime/cli/command.h"
#include "runtime/state/snapshot.h"

namespace radl::cli {

// `state`: to_json(Snapshot). `where`: its place. `going_on`: the current run; empty: none.
void print_state(const Session& session, const Json& state, const std::string& where,
                 const std::string& going_on, const std::set<std::string>& running);
// A copy of the state with these steps marked as running.
Json with_running(Json state, const std::set<std::string>& running);

struct OutputWish {
  std::string name;  // empty: all
  bool json = false, raw = false;
};
int print_outputs(const Session& session, const Json& state, const OutputWish& wish);  // the exit code

}  // namespace radl::cli
