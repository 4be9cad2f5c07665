// Repeats a call that may work later. Internal to runtime/exec.
#pragma once

#include <chrono>
#include <functional>

#include "common/status.h"
#include "runtime/base/world.h"
#include "runtime/exec/executor.h"

namespace radl {

// Retry, Timeout and Lost: passing faults.
bool may_work_later(Code code);
// The wait before attempt `attempt` + 1 (from 1): doubled each time up to the longest, of which a random half
// to whole.
std::chrono::milliseconds backoff(const ApplyOptions& options, int attempt, Random& random);

struct RetryHooks {
  std::function<void(const Status& error, int attempt, std::chrono::milliseconds wait)> on_retry;
  Stop stop;
  // True: the failure counts as the first one, since the call was well under way. Not given: never.
  std::function<bool()> counts_anew;
};
// Calls until it is ok, fails for good, or has been tried often enough. `call` is given the number of the
// call, from 1.
Status with_retries(const ApplyOptions& options, World& world, const RetryHooks& hooks,
                    const std::function<Status(int number)>& call);

}  // namespace radl
