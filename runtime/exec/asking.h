// What the actions on resources share: how something is asked for, again and again where that may help, and
// what is said of it. Internal to runtime/exec.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "runtime/exec/execution.h"
#include "runtime/exec/park.h"

namespace radl {

// Tells how far a machine is; nothing of what is none.
void tell_phase(Execution& execution, const ResourceRecord& record, const char* phase);
void tell_node_phase(Execution& execution, const std::string& address, const char* phase);
void tell(Execution& execution, const std::string& id, std::string message);

// The record as a request, with what it references as that is now.
Order order_for(Execution& execution, const ResourceRecord& record);
// For one request about `address`.
Context asking(Execution& execution, const std::string& address);

// Until then a cloud's word that it is not there may only mean that it does not show yet.
Scheduler::TimePoint shows_by(Execution& execution, const Cloud& cloud, const ResourceRecord& record);
// How long to wait until the next attempt, before that time; nothing: it is over.
std::optional<std::chrono::milliseconds> until_shown(Execution& execution, const Cloud& cloud,
                                                     Scheduler::TimePoint shown);
Status stopped_before_it_showed(const std::string& address);
// Its intent was recorded, and closed again.
Status stopped_before_it_was_asked();

// Another attempt at a call that failed, `attempt` by number: the wait before it, which is as long as a cloud
// asks for (`retry_after`, seconds), but ten minutes at most. Nothing: none is worth it.
std::optional<std::chrono::milliseconds> next_attempt(Execution& execution, const std::string& id,
                                                      const Status& error, int& attempt,
                                                      double retry_after = 0);

// Counts the attempts of one call, waits between them.
class Attempts {
 public:
  Attempts(Execution& execution, Park& park, const std::string& id)
      : execution_(execution), park_(park), id_(id) {}
  // False: not worth another, or the run stops.
  Async<bool> again(Status error, double retry_after = 0);

 private:
  Execution& execution_;
  Park& park_;
  const std::string& id_;  // outlives this
  int attempt_ = 1;
};

// From made to reachable: logins are tried, and no thread is held in between. A machine that never answers is
// marked, and replaced by the next run.
// `address` outlives the wait.
Async<Status> wait_until_reachable(Execution& execution, Park& park, const std::string& address);

}  // namespace radl
