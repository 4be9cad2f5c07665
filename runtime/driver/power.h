// Stopping, starting and rebooting machines of an infrastructure, and images of them.
#pragma once

#include <string>
#include <vector>

#include "runtime/driver/machinery.h"
#include "runtime/driver/notice.h"
#include "runtime/driver/project.h"
#include "runtime/exec/power.h"

namespace radl::driver {

struct PowerRequest {
  ProjectOptions project;
  MachineryOptions machinery;
  double lock_timeout = 0;  // seconds
};

// What came of each, in the order of `addresses` ("worker[0]"). NotFound: there is no such infrastructure.
// Conflict: another run has its lock. `host` and `cancellation` outlive the call.
Result<std::vector<PowerOutcome>> change_power(const Host& host, const PowerRequest& request,
                                               const std::vector<std::string>& addresses, PowerChange change,
                                               Cancellation& cancellation, const Tell& tell);

// The address of an image of the machine's root disk, for disk.0.image.url. Errors as above; Unsupported: its
// cloud makes none.
Result<std::string> make_image(const Host& host, const PowerRequest& request, const std::string& address,
                               const std::string& name, Cancellation& cancellation, const Tell& tell);

}  // namespace radl::driver
