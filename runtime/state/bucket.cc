#include "runtime/state/bucket.h"

#include <algorithm>
#include <memory>
#include <mutex>

namespace radl {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFirstWait{50}, kLongestWait{2000};
// For a write, and the look at how it ended, also if the time is over: after a stop of the process it is.
constexpr milliseconds kAtLeast{3000};

milliseconds left_until(steady_clock::time_point end) {
  return std::max(milliseconds(1), std::chrono::ceil<milliseconds>(end - steady_clock::now()));
}

}  // namespace

Stop for_a_write(const Stop& stop, milliseconds time) {
  auto asked_at = std::make_shared<std::optional<steady_clock::time_point>>();
  const Stop late = Stop::when([stop, asked_at, turn = std::make_shared<std::mutex>()] {
    if (!stop.asked()) return false;
    std::lock_guard guard(*turn);
    if (!*asked_at) *asked_at = steady_clock::now();
    return steady_clock::now() - **asked_at >= kAtLeast;
  });
  return late.within(time);
}

Result<std::string> put_certainly(Bucket& bucket, const std::string& key, const std::string& body,
                                  const WriteIf& condition, milliseconds time, const Stop& stop) {
  const auto end = steady_clock::now() + time;
  for (milliseconds wait = kFirstWait;; wait = std::min(wait * 2, kLongestWait)) {
    Result<std::string> written = bucket.put(key, body, condition, for_a_write(stop, left_until(end)));
    if (written.ok()) return written;
    const Code code = written.status().code();
    const bool unknown =
        code == Code::Lost || code == Code::Retry || code == Code::Timeout || code == Code::Cancelled;
    if (!unknown && code != Code::Conflict) return written;
    // A conflict too may be with this very write: the server, or the HTTP library, repeated it.
    Result<std::optional<BucketObject>> now =
        bucket.get(key, for_a_write(stop, std::max(kAtLeast, left_until(end))));
    if (now.ok()) {
      if (*now && (*now)->body == body) return (*now)->etag;
      if (code == Code::Conflict) return written;
      const bool as_before = condition.absent ? !now->has_value() : *now && (*now)->etag == condition.etag;
      if (!as_before) return Status(Code::Conflict, bucket.url(key) + ": somebody else has written it");
    }
    if (steady_clock::now() + wait >= end || !stop.sleep(wait)) return written;
  }
}

}  // namespace radl
