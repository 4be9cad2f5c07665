// Ctrl-C and TERM, turned into a Cancellation while an object of this class lives. Where one lives inside of
// another's time, the signal is the inner one's and, when that has ended, the outer one's as well: a command
// that runs others is stopped by what came while one of them was at work.
#pragma once

#include "common/stop.h"

namespace radl::cli {

class SignalGuard {
 public:
  explicit SignalGuard(Cancellation& cancellation);
  ~SignalGuard();
  // From now on HUP, which a terminal sends that is closed, requests this in place of the cancellation. It
  // outlives the guard. A HUP that is ignored, as under nohup, stays ignored.
  void on_hang_up(StopSource& hung_up);
  // Whether it lives inside of another's time, to which a request goes on.
  bool is_inner() const { return outer_ != nullptr; }
  // Whether that one was asked to stop: if so, before this one was there.
  bool was_asked_outside() const { return outer_ != nullptr && outer_->stop_starting(); }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  Cancellation& cancellation_;
  Cancellation* const outer_;
  StopSource* const outer_hung_up_;
};

}  // namespace radl::cli
