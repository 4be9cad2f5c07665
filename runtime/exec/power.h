// Stops, starts and reboots machines of a state, independently of plans.
#pragma once

#include <string>
#include <vector>

#include "runtime/exec/executor.h"

namespace radl {

enum class PowerChange { Stop, Start, Reboot };

// The outcome for one machine. Its recorded attributes are updated from the cloud.
struct PowerOutcome {
  std::string address;
  Status status;
};

// Requests all changes, then waits until the clouds show the machines stopped or running. Requires the
// state's lock. An interrupted run leaves no open intent; the next look finds the actual states. NotFound: no
// such machine. Unsupported: its cloud cannot do that.
std::vector<PowerOutcome> change_power(const Run& run, const std::vector<std::string>& addresses,
                                       PowerChange change);

// Creates an image of a root disk; returns its address for disk.0.image.url. Errors: as change_power().
Result<std::string> make_image(const Run& run, const std::string& address, const std::string& name);

}  // namespace radl
