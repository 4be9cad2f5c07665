// Probes all booting machines at once for open connections. Logins are tried only where they can work, and no
// thread waits for a silent machine. Internal to runtime/exec.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/exec/execution.h"
#include "runtime/exec/scheduler.h"

namespace radl {

class Prober {
 public:
  Prober(Execution& execution, Scheduler& scheduler) : execution_(execution), scheduler_(scheduler) {}

  struct Slot {
    std::string address;
    Scheduler::TimePoint end;
    std::optional<bool> answers;  // false: not before `end`
    std::optional<Scheduler::Ticket> ticket;
  };
  std::shared_ptr<Slot> add(std::string address, Scheduler::TimePoint end);
  std::optional<bool> take(const std::shared_ptr<Slot>& slot);
  // False if there is an answer already. Otherwise `ticket` is resumed as soon as there is one.
  bool wait(const std::shared_ptr<Slot>& slot, Scheduler::Ticket ticket);
  void drop(const std::shared_ptr<Slot>& slot);

 private:
  void plan_probe(std::chrono::milliseconds wait);  // with the lock held
  void probe();

  Execution& execution_;
  Scheduler& scheduler_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Slot>> slots_;
  bool planned_ = false;
};

}  // namespace radl
