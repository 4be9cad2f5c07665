// What becomes of a lost link while the thread that serves it waits elsewhere.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "common/status.h"

namespace radl::engine::cluster {

// Told by a session's reader thread while the serving thread may wait in the shard.
struct Lost {
  using Call = std::function<void(const Status&, double silent)>;
  std::mutex mutex;
  Call then;
  Status status;
  double silent = 0;
  void tell(const Status& s, double seconds) {
    std::lock_guard lock(mutex);
    status = s;
    silent = seconds;
    if (then) then(s, seconds);
  }
  void set(Call call) {
    std::lock_guard lock(mutex);
    then = std::move(call);
    if (then && !status.ok()) then(status, silent);
  }
};

}  // namespace radl::engine::cluster
