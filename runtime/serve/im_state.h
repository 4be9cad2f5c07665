// States of machines and infrastructures in the terms of the Infrastructure Manager's REST API.
#pragma once

#include <string>
#include <vector>

#include "runtime/state/snapshot.h"

namespace radl::serve {

enum class MachineState {
  Pending,
  Running,
  Configured,
  Unconfigured,
  Stopped,
  Off,
  Failed,
  Unknown,
  Deleting
};
std::string_view state_name(MachineState state);  // "pending", ...

// Of the node `address`. `at_work`: a run of the infrastructure is active; `deleting`: it is a destroy.
MachineState machine_state(const Snapshot& snapshot, const std::string& address, bool at_work, bool deleting);

// Of the infrastructure, from its machines' states in number order. Without machines: Failed if `failed`,
// Pending during a run, else Unknown.
MachineState infrastructure_state(const std::vector<MachineState>& machines, bool at_work, bool failed,
                                  bool deleting);

}  // namespace radl::serve
