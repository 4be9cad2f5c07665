// Stops, starts and reboots machines of a state, beside any plan.
#pragma once

#include <string>
#include <vector>

#include "runtime/exec/executor.h"

namespace radl {

enum class PowerChange { Stop, Start, Reboot };

// What came of one machine. The recorded attributes are those that its cloud shows afterwards.
struct PowerOutcome {
  std::string address;
  Status status;
};

// Asks for all of them, then waits until their clouds show them stopped or running. Needs the state's lock. A
// run that is cut short leaves nothing open: the next look finds the machines as they are. NotFound: the
// state has no such machine. Unsupported: its cloud cannot do that.
std::vector<PowerOutcome> change_power(const Run& run, const std::vector<std::string>& addresses,
                                       PowerChange change);

// Makes an image of the root disk of a machine. Its address for disk.0.image.url. Errors: as change_power().
Result<std::string> make_image(const Run& run, const std::string& address, const std::string& name);

}  // namespace radl
