// Ctrl-C and TERM, turned into a Cancellation while an object of this class lives.
#pragma once

#include "common/stop.h"

namespace radl::cli {

class SignalGuard {
 public:
  explicit SignalGuard(Cancellation& cancellation);
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
};

}  // namespace radl::cli
