// Between the start of a command and its word on which process it is, a stop is held back for a moment: what
// is not known cannot be ended, and would go on.
#pragma once

#include <chrono>

#include "common/stop.h"
#include "runtime/net/ssh/output.h"

namespace radl::ssh {

class HeldStop {
 public:
  // How long a stop waits for the command's word. A node that is slower than that may go on with it.
  static constexpr std::chrono::seconds kLongest{5};

  // Both must outlive this object, and this object its token. For the thread alone that reads the output.
  HeldStop(const Stop& stop, const Framing& errors) : stop_(stop), errors_(errors) {}
  HeldStop(const HeldStop&) = delete;
  HeldStop& operator=(const HeldStop&) = delete;

  Stop token() {
    return Stop::when([this] { return now(); });
  }
  // Why it stopped: Timeout or Cancelled, of the stop that was given. Ok: it did not.
  const Status& why() const { return why_; }
  // Whether this status of what was given the token comes from the stop.
  bool caused(const Status& status) const {
    return !why_.ok() && (status.code() == Code::Timeout || status.code() == Code::Cancelled);
  }
  // As why(), where the command could not be ended.
  Status not_ended() const {
    return {why_.code(), why_.message() + "; the command could not be ended and may go on there"};
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
