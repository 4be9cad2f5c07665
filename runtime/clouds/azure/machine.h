// Machines: builds Azure's request from a spec and parses its description. Internal to this folder;
// machine.cc sends the requests.
#pragma once

#include <string>
#include <vector>

#include "runtime/clouds/azure/kind.h"

namespace radl::azure {

// Tags of a machine beside its mark.
inline constexpr const char* kKeyTag = "radlc-key";  // SHA256 fingerprint of the login's key

// The body of a machine's PUT. Looks up the image unless cached. Invalid and NotFound name what is
// unavailable.
Result<Json> launch_of(Asking& call, const Order& order);

// A machine with its instance view.
struct MachineNow {
  std::string id, name, provisioning, power, type, user, zone, interface, detail;
  std::vector<std::string> further;  // IDs of interfaces attached later by others
  bool spot = false;
  Json tags = Json::object(), volumes = Json::object();
};
MachineNow machine_in(const Json& item);
ResourcePhase phase_of_machine(const MachineNow& now);
// Phase, spec, attributes and detail. Fetches interfaces and addresses once for all machines of a look.
Status show_machine(Asking& call, const MachineNow& now, Seen& seen);
// `eviction_notice` of a spot machine: how it detects its own interruption (docs/job.md).
Json spot_notice(const std::string& machine);

}  // namespace radl::azure
