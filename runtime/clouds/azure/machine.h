// Machines: what Azure is given for a spec, and what it tells of one. Internal to this folder; machine.cc
// asks.
#pragma once

#include <string>
#include <vector>

#include "runtime/clouds/azure/kind.h"

namespace radl::azure {

// Tags of a machine beside its mark.
inline constexpr const char* kKeyTag = "radlc-key";  // SHA256 fingerprint of the login's key

// The body of a machine's PUT. Asks for the image where it is not known. Invalid and NotFound name what
// cannot be had.
Result<Json> launch_of(Asking& call, const Order& order);

// A machine as it is shown, with its instance view.
struct MachineNow {
  std::string id, name, provisioning, power, type, user, zone, interface, detail;
  std::vector<std::string> further;  // ids of interfaces that somebody attached later
  bool spot = false;
  Json tags = Json::object(), volumes = Json::object();
};
MachineNow machine_in(const Json& item);
ResourcePhase phase_of_machine(const MachineNow& now);
// Phase, spec, attributes and detail; asks for interfaces and addresses, once for all machines of a look.
Status show_machine(Asking& call, const MachineNow& now, Seen& seen);
// `eviction_notice` of a spot machine: how it asks itself whether it is taken back (docs/job.md).
Json spot_notice(const std::string& machine);

}  // namespace radl::azure
