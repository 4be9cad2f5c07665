#include "runtime/exec/retry.h"

#include <algorithm>

namespace radl {

bool may_work_later(Code code) { return code == Code::Retry || code == Code::Timeout || code == Code::Lost; }

std::chrono::milliseconds backoff(const ApplyOptions& options, int attempt, Random& random) {
  long long wait = options.first_wait.count();
  for (int i = 1; i < attempt && wait < options.longest_wait.count(); ++i) wait *= 2;
  wait = std::min<long long>(wait, options.longest_wait.count());
  std::string bytes = random.bytes(2);
  unsigned dice = static_cast<unsigned char>(bytes[0]) * 256u + static_cast<unsigned char>(bytes[1]);
  return std::chrono::milliseconds(wait / 2 + wait * dice / 65535 / 2);
}

Status with_retries(const ApplyOptions& options, World& world, const RetryHooks& hooks,
                    const std::function<Status(int number)>& call) {
  for (int attempt = 1, number = 1;; ++attempt, ++number) {
    Status status = call(number);
    if (hooks.counts_anew && hooks.counts_anew()) attempt = 1;
    if (status.ok() || !may_work_later(status.code()) || attempt >= options.attempts) return status;
    std::chrono::milliseconds wait = backoff(options, attempt, world.random);
    if (hooks.on_retry) hooks.on_retry(status, attempt, wait);
    if (!sleep_unless(world.clock, wait, hooks.stop)) return status;
  }
}

}  // namespace radl
