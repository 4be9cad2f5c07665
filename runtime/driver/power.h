// Stops, starts and reboots machines of an infrastructure, and creates images of them.
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

// Returns the outcomes in the order of `addresses` ("worker[0]"). NotFound: no such infrastructure. Conflict:
// another run holds its lock. `host` and `cancellation` must outlive the call.
Result<std::vector<PowerOutcome>> change_power(const Host& host, const PowerRequest& request,
                                               const std::vector<std::string>& addresses, PowerChange change,
                                               Cancellation& cancellation, const Tell& tell);

// Creates an image of the machine's root disk and returns its address for disk.0.image.url. Errors as above;
// Unsupported: its cloud cannot create images.
Result<std::string> make_image(const Host& host, const PowerRequest& request, const std::string& address,
                               const std::string& name, Cancellation& cancellation, const Tell& tell);

}  // namespace radl::driver
