#include "runtime/serve/im_state.h"

#include <algorithm>
#include <optional>

namespace radl::serve {
namespace {

bool concerns(const StepRecord& step, const std::string& address) {
  return std::ranges::find(step.nodes, address) != step.nodes.end();
}

}  // namespace

std::string_view state_name(MachineState state) {
  constexpr std::string_view kNames[] = {"pending", "running", "configured", "unconfigured", "stopped",
                                         "off",     "failed",  "unknown",    "deleting"};
  return kNames[size_t(state)];
}

MachineState machine_state(const Snapshot& snapshot, const std::string& address, bool at_work,
                           bool deleting) {
  if (deleting) return MachineState::Deleting;
  const auto found = snapshot.resources.find(address);
  if (found == snapshot.resources.end()) return at_work ? MachineState::Pending : MachineState::Failed;
  const ResourceRecord& node = found->second;
  if (node.status == ResourceStatus::Deleting) return MachineState::Deleting;
  if (node.attributes.value("state", "") == "stopped") return MachineState::Stopped;
  if (at_work) return node.reachable ? MachineState::Running : MachineState::Pending;
  if (node.status == ResourceStatus::Tainted || !node.reachable) return MachineState::Failed;
  const bool done = std::ranges::all_of(snapshot.steps, [&](const auto& step) {
    return !concerns(step.second, address) || step.second.status == StepStatus::Done;
  });
  return done ? MachineState::Configured : MachineState::Unconfigured;
}

// The order of the rules, and that the first of stopped and off stays, are the reference's.
MachineState infrastructure_state(const std::vector<MachineState>& machines, bool at_work, bool failed,
                                  bool deleting) {
  if (deleting) return MachineState::Deleting;
  if (machines.empty())
    return failed ? MachineState::Failed : at_work ? MachineState::Pending : MachineState::Unknown;
  const auto first = std::ranges::find_if(
      machines, [](MachineState s) { return s == MachineState::Failed || s == MachineState::Unknown; });
  if (first != machines.end()) return *first;
  const auto any = [&](MachineState s) { return std::ranges::find(machines, s) != machines.end(); };
  if (any(MachineState::Pending)) return MachineState::Pending;
  if (any(MachineState::Running)) return MachineState::Running;
  std::optional<MachineState> chosen;
  for (const MachineState s : machines) {
    if (s == MachineState::Unconfigured) {
      if (!chosen || chosen == MachineState::Configured) chosen = s;
    } else if (!chosen) {
      chosen = s;
    }
  }
  return *chosen;
}

}  // namespace radl::serve
