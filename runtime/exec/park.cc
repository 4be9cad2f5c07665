#include "runtime/exec/park.h"

namespace radl {

struct TimeAwaiter {
  Park& park;
  Scheduler::TimePoint when;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> self) {
    park.resumption_ = self;
    park.scheduler_.resume_at(park.scheduler_.ticket(park.vertex_), when);
  }
  void await_resume() const {}
};

// Of a Watcher or a Prober: until there is something in the slot.
template <class Source>
struct SlotAwaiter {
  Park& park;
  Source& source;
  const std::shared_ptr<typename Source::Slot>& slot;
  bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<> self) {
    park.resumption_ = self;
    if (source.wait(slot, park.scheduler_.ticket(park.vertex_))) return true;
    park.resumption_ = nullptr;
    return false;
  }
  void await_resume() const {}
};

Async<bool> Park::answers(Json attributes, Scheduler::TimePoint end) {
  if (!session_.run.answering) co_return true;
  Prober& prober = watchers_.prober();
  std::shared_ptr<Prober::Slot> slot = prober.add(std::move(attributes), end);
  while (true) {
    std::optional<bool> answer = prober.take(slot);
    if (answer) co_return *answer;
    if (session_.stop_starting()) {
      prober.drop(slot);
      co_return false;
    }
    SlotAwaiter<Prober> wait{*this, prober, slot};
    co_await wait;
  }
}

Async<bool> Park::until(Scheduler::TimePoint when) {
  while (true) {
    if (session_.stop_starting()) co_return false;
    if (session_.world().clock.now() >= when) co_return true;
    TimeAwaiter wait{*this, when};
    co_await wait;
  }
}

Async<Sight> Park::sight(Cloud& cloud, Watch watch) {
  const bool accepted = watch.accepted;
  Watcher& watcher = watchers_.of(cloud);
  std::shared_ptr<Watcher::Slot> slot = watcher.add(std::move(watch));
  while (true) {
    std::optional<Sight> sight = watcher.take(slot);
    if (sight) co_return std::move(*sight);
    if (session_.stop_now() || (!accepted && session_.stop_starting())) {
      watcher.drop(slot);
      Sight stopped;
      stopped.status =
          Status(Code::Cancelled, accepted ? "stopped while waiting for " + slot->watch.address
                                           : "stopped before it was known whether " + slot->watch.address +
                                                 " was made; the next run looks again");
      co_return stopped;
    }
    SlotAwaiter<Watcher> wait{*this, watcher, slot};
    co_await wait;
  }
}

}  // namespace radl
