#include "runtime/state/bucket.h"

#include <algorithm>
#include <thread>

namespace radl {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFirstWait{50}, kLongestWait{2000};
// For the look at how a write ended, also where the time for it is over: after a stop of the process it is.
constexpr milliseconds kLastLook{3000};

milliseconds left_until(steady_clock::time_point end) {
  return std::max(milliseconds(1), std::chrono::ceil<milliseconds>(end - steady_clock::now()));
}

}  // namespace

Result<std::string> put_certainly(Bucket& bucket, const std::string& key, const std::string& body,
                                  const WriteIf& condition, milliseconds patience) {
  const auto end = steady_clock::now() + patience;
  for (milliseconds wait = kFirstWait;; wait = std::min(wait * 2, kLongestWait)) {
    Result<std::string> written = bucket.put(key, body, condition, left_until(end));
    if (written.ok()) return written;
    const Code code = written.status().code();
    const bool unknown = code == Code::Lost || code == Code::Retry || code == Code::Timeout;
    if (!unknown && code != Code::Conflict) return written;
    // A conflict too may be with this very write: the server, or the HTTP library, repeated it.
    Result<std::optional<BucketObject>> now = bucket.get(key, std::max(kLastLook, left_until(end)));
    if (now.ok()) {
      if (*now && (*now)->body == body) return (*now)->etag;
      if (code == Code::Conflict) return written;
      const bool as_before = condition.absent ? !now->has_value() : *now && (*now)->etag == condition.etag;
      if (!as_before) return Status(Code::Conflict, bucket.url(key) + ": somebody else has written it");
    }
    if (steady_clock::now() + wait >= end) return written;
    std::this_thread::sleep_for(wait);
  }
}

}  // namespace radl
