// What actions write to the state, gathered: all that is waiting goes in one transaction, and whoever waits
// for it is parked. So a thousand resources that are made at a time cost a few syncs and not two thousand.
// Internal to runtime/exec.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/exec/execution.h"
#include "runtime/exec/scheduler.h"

namespace radl {

class Recorder {
 public:
  Recorder(Execution& execution, Scheduler& scheduler) : execution_(execution), scheduler_(scheduler) {}

  // Made when its turn has come, on another thread: what waits takes no memory for it.
  using Changes = std::function<std::vector<StateChange>()>;
  using Written = Result<std::vector<long long>>;  // as of Store::commit()

  struct Slot {
    Changes changes;
    std::unique_ptr<Written> written;  // durable, or why not
    std::optional<Scheduler::Ticket> ticket;
  };
  // It is written in any case: there is no way to take it back.
  std::shared_ptr<Slot> add(Changes changes);
  bool is_written(const Slot& slot) const;
  Written take(Slot& slot);
  // False: so much is waiting that nothing more is to be begun.
  bool has_room() const { return count_ < kRoom; }
  // False when it is written already; else `ticket` is resumed as soon as it is.
  bool wait(const std::shared_ptr<Slot>& slot, Scheduler::Ticket ticket);

 private:
  // What is recorded as begun and was not asked for yet is little after a kill: a removal would be repeated.
  static constexpr size_t kRoom = 64;

  void write();

  Execution& execution_;
  Scheduler& scheduler_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Slot>> waiting_;
  bool planned_ = false;           // a write, which is one at a time
  std::atomic<size_t> count_ = 0;  // of what is waiting or being written
};

}  // namespace radl
