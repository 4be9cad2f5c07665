// Shared by the actions on resources: requests, their retries, and their events. Internal to runtime/exec.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "runtime/exec/execution.h"
#include "runtime/exec/park.h"

namespace radl {

// Emit the phase of a machine; nothing for other resources.
void tell_phase(Execution& execution, const ResourceRecord& record, const char* phase);
void tell_node_phase(Execution& execution, const std::string& address, const char* phase);
void tell(Execution& execution, const std::string& id, std::string message);

// Returns the record as a request, with the current data of the resources that it references.
Order order_for(Execution& execution, const ResourceRecord& record);
// Context of one request about `address`.
Context asking(Execution& execution, const std::string& address);

// Until this time, a cloud that reports the resource as missing may just not show it yet.
Scheduler::TimePoint shows_by(Execution& execution, const Cloud& cloud, const ResourceRecord& record);
// Returns how long to wait before the next attempt. Empty if that time has passed.
std::optional<std::chrono::milliseconds> until_shown(Execution& execution, const Cloud& cloud,
                                                     Scheduler::TimePoint shown);
Status stopped_before_it_showed(const std::string& address);
// For an intent that was recorded and closed without a request.
Status stopped_before_it_was_asked();

// Returns the wait before the next attempt at a failed call, and increments `attempt`. Honors `retry_after`
// (seconds, set by the cloud), up to ten minutes. Empty if a retry is pointless.
std::optional<std::chrono::milliseconds> next_attempt(Execution& execution, const std::string& id,
                                                      const Status& error, int& attempt,
                                                      double retry_after = 0);

// Counts the attempts of one call, and waits between them.
class Attempts {
 public:
  Attempts(Execution& execution, Park& park, const std::string& id)
      : execution_(execution), park_(park), id_(id) {}
  // False if a retry is pointless or the run stops.
  Async<bool> again(Status error, double retry_after = 0);

 private:
  Execution& execution_;
  Park& park_;
  const std::string& id_;  // outlives this
  int attempt_ = 1;
};

// Tries to log in until the machine is reachable, without blocking a thread between attempts. A machine that
// never responds is marked, and the next run replaces it. `address` must outlive the wait.
Async<Status> wait_until_reachable(Execution& execution, Park& park, const std::string& address);

}  // namespace radl
