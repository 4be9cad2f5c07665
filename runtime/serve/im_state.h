// The states of machines and infrastructures in the words of the Infrastructure Manager's REST API.
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

// Of the node `address`. `at_work`: a run of the infrastructure goes on; `deleting`: it is a destroy.
MachineState machine_state(const Snapshot& snapshot, const std::string& address, bool at_work, bool deleting);

// Of the infrastructure, from those of its machines in the order of their numbers. Without machines: Failed
// where `failed`, Pending while a run goes on, else Unknown.
MachineState infrastructure_state(const std::vector<MachineState>& machines, bool at_work, bool failed,
                                  bool deleting);

}  // namespace radl::serve
