// Limits the requests of each user: a token bucket that refills by `per_second` and holds `burst`.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>

#include "runtime/base/world.h"

namespace radl::serve {

class Rate {
 public:
  Rate(double per_second, double burst, Clock& clock)
      : per_second_(per_second), burst_(burst), clock_(clock) {}
  // False: the user must wait.
  bool take(const std::string& user) {
    std::lock_guard lock(mutex_);
    const auto now = clock_.now();
    auto [at, is_new] = buckets_.try_emplace(user, Bucket{burst_, now});
    Bucket& bucket = at->second;
    bucket.left += std::chrono::duration<double>(now - bucket.at).count() * per_second_;
    bucket.left = bucket.left < burst_ ? bucket.left : burst_;
    bucket.at = now;
    if (bucket.left < 1) return false;
    bucket.left -= 1;
    return true;
  }

 private:
  struct Bucket {
    double left = 0;
    std::chrono::steady_clock::time_point at;
  };
  const double per_second_, burst_;
  Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Bucket> buckets_;  // by user
};

}  // namespace radl::serve
