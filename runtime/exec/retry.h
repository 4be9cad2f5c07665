// Retries calls after transient failures. Internal to runtime/exec.
#pragma once

#include <chrono>
#include <functional>

#include "common/status.h"
#include "runtime/base/world.h"
#include "runtime/exec/executor.h"

namespace radl {

// True for the transient failures Retry, Timeout and Lost.
bool may_work_later(Code code);
// The wait before attempt `attempt` + 1 (from 1): doubles each time up to the maximum; randomly reduced by up
// to a half.
std::chrono::milliseconds backoff(const ApplyOptions& options, int attempt, Random& random);

struct RetryHooks {
  std::function<void(const Status& error, int attempt, std::chrono::milliseconds wait)> on_retry;
  Stop stop;
  // True: restart the count, because the call had made progress. If not set: never.
  std::function<bool()> counts_anew;
};
// Calls until success, a permanent failure, or the maximum number of attempts. `call` receives its number,
// from 1.
Status with_retries(const ApplyOptions& options, World& world, const RetryHooks& hooks,
                    const std::function<Status(int number)>& call);

}  // namespace radl
