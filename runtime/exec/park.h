// Lets an action wait for a time, or for a state in a cloud. Internal to runtime/exec.
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

  // False if the run is to stop before that.
  Async<bool> until(Scheduler::TimePoint when);
  Async<bool> during(std::chrono::milliseconds time) { return until(execution_.in(time)); }
  // Cancelled at the second Ctrl-C, or at the first if it is unknown whether the cloud accepted anything.
  Async<std::unique_ptr<Sight>> sight(Cloud& cloud, Watch watch);

  // Returns when the changes are durable: Store::commit(), together with concurrent writes. Cannot be
  // interrupted.
  Async<Recorder::Written> written(Recorder::Changes changes);
  // The same for changes that begin no intent.
  Async<Status> write(Recorder::Changes changes);

  // True as soon as the machine accepts connections, or if that cannot be determined. False at `end`, or if
  // the run is to stop. Keeps a reference to `address`.
  Async<bool> answers(const std::string& address, Scheduler::TimePoint end);

  // Where the vertex continues in its next turn.
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

// An action with its waits.
template <class T>
class Operation {
 public:
  explicit Operation(Park park) : park_(std::move(park)) {}
  Park& park() { return park_; }
  void start(Async<T> task) { task_.emplace(std::move(task)); }
  // Runs one turn. True when the action has ended.
  bool advance() {
    std::coroutine_handle<> next = park_.take_resumption();
    (next ? next : task_->handle()).resume();
    return task_->done();
  }
  // Returns the result; rethrows an exception.
  T take() { return task_->take(); }

 private:
  Park park_;
  std::optional<Async<T>> task_;
};

}  // namespace radl
