// Batches the actions' writes to the state: all waiting changes go into one transaction, and their writers
// park. Creating a thousand resources then costs a few syncs, not two thousand. Internal to runtime/exec.
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

  // Called on another thread when its turn comes, so waiting changes take no memory.
  using Changes = std::function<std::vector<StateChange>()>;
  using Written = Result<std::vector<long long>>;  // as Store::commit() returns it

  struct Slot {
    Changes changes;
    std::unique_ptr<Written> written;  // set once durable or failed
    std::optional<Scheduler::Ticket> ticket;
  };
  // The changes cannot be withdrawn.
  std::shared_ptr<Slot> add(Changes changes);
  bool is_written(const Slot& slot) const;
  Written take(Slot& slot);
  // False: so many changes wait that nothing new should start.
  bool has_room() const { return count_ < kRoom; }
  // False if the changes are written already. Otherwise `ticket` is resumed as soon as they are.
  bool wait(const std::shared_ptr<Slot>& slot, Scheduler::Ticket ticket);

 private:
  // Limits how many recorded but unrequested actions a kill leaves: recovery repeats removals.
  static constexpr size_t kRoom = 64;

  void write();

  Execution& execution_;
  Scheduler& scheduler_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Slot>> waiting_;
  bool planned_ = false;           // a write is planned; there is one at a time
  std::atomic<size_t> count_ = 0;  // waiting or being written
};

}  // namespace radl
