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

// Of a Watcher, a Prober or a Recorder: until there is something in the slot.
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

Async<bool> Park::answers(const std::string& address, Scheduler::TimePoint end) {
  if (!execution_.run.answering) co_return true;
  Prober& prober = watchers_.prober();
  std::shared_ptr<Prober::Slot> slot = prober.add(address, end);
  while (true) {
    std::optional<bool> answer = prober.take(slot);
    if (answer) co_return *answer;
    if (execution_.stop_starting()) {
      prober.drop(slot);
      co_return false;
    }
    SlotAwaiter<Prober> wait{*this, prober, slot};
    co_await wait;
  }
}

Async<Recorder::Written> Park::written(Recorder::Changes changes) {
  Recorder& recorder = watchers_.recorder();
  std::shared_ptr<Recorder::Slot> slot = recorder.add(std::move(changes));
  while (!recorder.is_written(*slot)) {
    SlotAwaiter<Recorder> wait{*this, recorder, slot};
    co_await wait;
  }
  co_return recorder.take(*slot);
}

Async<Status> Park::write(Recorder::Changes changes) {
  Async<Recorder::Written> writing = written(std::move(changes));
  co_await writing.finished();
  co_return writing.take().status();
}

Async<bool> Park::until(Scheduler::TimePoint when) {
  while (true) {
    if (execution_.stop_starting()) co_return false;
    if (execution_.world().clock.now() >= when) co_return true;
    TimeAwaiter wait{*this, when};
    co_await wait;
  }
}

namespace {

std::unique_ptr<Sight> stopped(const Watch& watch) {
  auto sight = std::make_unique<Sight>();
  sight->status =
      Status(Code::Cancelled, watch.accepted ? "stopped while waiting for " + watch.address
                                             : "stopped before it was known whether " + watch.address +
                                                   " was made; the next run looks again");
  return sight;
}

}  // namespace

Async<std::unique_ptr<Sight>> Park::sight(Cloud& cloud, Watch watch) {
  Watcher& watcher = watchers_.of(cloud);
  return sight(watcher, watcher.add(std::move(watch)));
}

Async<std::unique_ptr<Sight>> Park::sight(Watcher& watcher, std::shared_ptr<Watcher::Slot> slot) {
  while (true) {
    if (watcher.is_settled(*slot)) co_return watcher.take(*slot);
    if (execution_.stop_now() || (!slot->watch.accepted && execution_.stop_starting())) {
      watcher.drop(slot);
      co_return stopped(slot->watch);
    }
    SlotAwaiter<Watcher> wait{*this, watcher, slot};
    co_await wait;
  }
}

}  // namespace radl
