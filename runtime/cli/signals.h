// Turns Ctrl-C and TERM into a Cancellation while an object of this class exists. Nested guards: the signal
// goes to the inner one and, after it has ended, also to the outer one. So a command that runs other commands
// stops for a signal that arrived during one of them.
#pragma once

#include "common/stop.h"

namespace radl::cli {

class SignalGuard {
 public:
  explicit SignalGuard(Cancellation& cancellation);
  ~SignalGuard();
  // From now on, HUP (sent when a terminal closes) requests this stop instead of the cancellation. Must
  // outlive the guard. An ignored HUP, as under nohup, stays ignored.
  void on_hang_up(StopSource& hung_up);
  // True if it is nested in another guard, to which requests are forwarded.
  bool is_inner() const { return outer_ != nullptr; }
  // True if the outer guard was asked to stop before this one existed.
  bool was_asked_outside() const { return outer_ != nullptr && outer_->stop_starting(); }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

 private:
  Cancellation& cancellation_;
  Cancellation* const outer_;
  StopSource* const outer_hung_up_;
};

}  // namespace radl::cli
