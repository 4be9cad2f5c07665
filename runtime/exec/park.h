// How an action waits: for a time, or for what a cloud shows. Internal to runtime/exec.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "runtime/exec/async.h"
#include "runtime/exec/execution.h"
#include "runtime/exec/scheduler.h"
#include "runtime/exec/watcher.h"

namespace radl {

class Park {
 public:
  Park(Execution& execution, Scheduler& scheduler, Watchers& watchers, Dag::Id vertex)
      : execution_(execution), scheduler_(scheduler), watchers_(watchers), vertex_(vertex) {}

  // False when the run is to stop before that.
  Async<bool> until(Scheduler::TimePoint when);
  Async<bool> during(std::chrono::milliseconds time) { return until(execution_.in(time)); }
  // Cancelled at the second Ctrl-C; at the first where it is not even known that something was accepted.
  Async<std::unique_ptr<Sight>> sight(Cloud& cloud, Watch watch);

  // Returns when it is durable: Store::commit() with what others write meanwhile. Not to be stopped.
  Async<Recorder::Written> written(Recorder::Changes changes);
  // The same where no intent is begun.
  Async<Status> write(Recorder::Changes changes);

  // True as soon as the machine takes connections, or where that cannot be asked; false at `end`, or when the
  // run is to stop.
  // `address` is kept by reference.
  Async<bool> answers(const std::string& address, Scheduler::TimePoint end);

  // Where the vertex goes on in its next turn.
  std::coroutine_handle<> take_resumption() { return std::exchange(resumption_, nullptr); }

 private:
  Async<std::unique_ptr<Sight>> sight(Watcher& watcher, std::shared_ptr<Watcher::Slot> slot);

  friend struct TimeAwaiter;
  template <class Source>
  friend struct SlotAwaiter;
  Execution& execution_;
  Scheduler& scheduler_;
  Watchers& watchers_;
  Dag::Id vertex_;
  std::coroutine_handle<> resumption_;
};

// An action across its waits.
template <class T>
class Operation {
 public:
  explicit Operation(Park park) : park_(std::move(park)) {}
  Park& park() { return park_; }
  void start(Async<T> task) { task_.emplace(std::move(task)); }
  // One turn; true when it is over.
  bool advance() {
    std::coroutine_handle<> next = park_.take_resumption();
    (next ? next : task_->handle()).resume();
    return task_->done();
  }
  // What it came to; throws what it threw.
  T take() { return task_->take(); }

 private:
  Park park_;
  std::optional<Async<T>> task_;
};

}  // namespace radl
