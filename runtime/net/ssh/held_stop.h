// Delays a stop briefly between the start of a command and its process ID: without the ID the command could
// not be ended and would continue.
#pragma once

#include <chrono>

#include "common/stop.h"
#include "runtime/net/ssh/output.h"

namespace radl::ssh {

class HeldStop {
 public:
  // Maximum delay. On a slower node the command may continue.
  static constexpr std::chrono::seconds kLongest{5};

  // Both must outlive this object, and this object its token. Use only on the thread that reads the output.
  HeldStop(const Stop& stop, const Framing& errors) : stop_(stop), errors_(errors) {}
  HeldStop(const HeldStop&) = delete;
  HeldStop& operator=(const HeldStop&) = delete;

  Stop token() {
    return Stop::when([this] { return now(); });
  }
  // Why it stopped: Timeout or Cancelled, from the given stop. Ok: it did not stop.
  const Status& why() const { return why_; }
  // True if this status, of a call that received the token, was caused by the stop.
  bool caused(const Status& status) const {
    return !why_.ok() && (status.code() == Code::Timeout || status.code() == Code::Cancelled);
  }
  // Same as why(), if the command could not be ended.
  Status not_ended() const {
    return {why_.code(), why_.message() + "; the command could not be ended and may still run there"};
  }

 private:
  bool now() {
    if (why_.ok()) {
      why_ = stop_.check();
      since_ = std::chrono::steady_clock::now();
    }
    return !why_.ok() && (errors_.begun() || std::chrono::steady_clock::now() - since_ >= kLongest);
  }

  const Stop& stop_;
  const Framing& errors_;
  Status why_;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace radl::ssh
