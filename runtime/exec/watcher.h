// Watches one cloud for a run: queries everything that is awaited there in one call, and resumes what has
// happened. Internal to runtime/exec.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/exec/execution.h"
#include "runtime/exec/prober.h"
#include "runtime/exec/recorder.h"
#include "runtime/exec/scheduler.h"

namespace radl {

// What an action waits for.
struct Watch {
  enum class For {
    There,    // seen in any phase but Pending, or proven missing
    Changed,  // matches `spec` and is ready; after `settled_at`, the cloud's answer is final
    Settled,  // as There, but no answer counts before `settled_at`
    Gone,     // not seen
  };
  For what = For::There;
  std::string token, id;  // exactly one is set
  std::string address;    // for messages
  // Only a query that started later proves that the resource is missing.
  Scheduler::TimePoint settled_at;
  Scheduler::TimePoint deadline;
  // True if the cloud accepted the request, so that even after the first Ctrl-C the wait continues.
  bool accepted = true;
  Json spec = nullptr;  // For::Changed: compared with what the cloud shows
};

// True if the resource matches `spec`, as far as the cloud shows it.
bool shows(const Seen& seen, const Json& spec);

struct Sight {
  // Timeout: the deadline passed. Cancelled: stopped. Otherwise why the cloud cannot be queried.
  Status status;
  std::unique_ptr<Seen> seen;  // if ok; a pointer, so that waiting slots stay small
};

class Watcher {
 public:
  Watcher(Execution& execution, Cloud& cloud, Scheduler& scheduler)
      : execution_(execution), cloud_(cloud), scheduler_(scheduler) {}

  struct Slot {
    Watch watch;
    std::unique_ptr<Sight> sight;
    std::optional<ResourcePhase> last;  // last phase seen
    std::optional<Scheduler::Ticket> ticket;
    bool told = false;     // reported that it does not show yet
    bool settled = false;  // its sight was taken
  };
  std::shared_ptr<Slot> add(Watch watch);
  bool is_settled(const Slot& slot) const;
  // Returns the result of a settled slot, which is then no longer watched.
  std::unique_ptr<Sight> take(Slot& slot);
  // False if there is a result already. Otherwise `ticket` is resumed as soon as there is one.
  bool wait(const std::shared_ptr<Slot>& slot, Scheduler::Ticket ticket);
  void drop(const std::shared_ptr<Slot>& slot);

 private:
  // Predicts the duration of a query from the last one. Both functions require the lock.
  std::chrono::milliseconds expected() const;
  void plan_look();
  void look();
  // Queries these in one call and judges each.
  void look_for(std::span<const std::shared_ptr<Slot>> asked);
  void judge(Slot& slot, const Seen* seen, Scheduler::TimePoint asked_at);
  void fail(std::span<const std::shared_ptr<Slot>> asked, const Status& why, Scheduler::TimePoint asked_at);
  void settle(Slot& slot, Sight sight);
  void tell_waiting(Slot& slot, Scheduler::TimePoint asked_at);

  Execution& execution_;
  Cloud& cloud_;
  Scheduler& scheduler_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Slot>> slots_;
  std::chrono::milliseconds wait_{0};
  std::chrono::milliseconds took_{0};   // duration of the last query
  size_t of_ = 0;                       // number of slots that it covered
  Scheduler::TimePoint peace_until_{};  // no query before this time while requests are in progress
  std::optional<Scheduler::TimePoint> next_look_, due_;  // due_: the next deadline
  bool failed_ = false;                                  // the last query failed; reported once
};

// The watchers of a run, created on demand, with its prober and recorder.
class Watchers {
 public:
  Watchers(Execution& execution, Scheduler& scheduler)
      : execution_(execution),
        scheduler_(scheduler),
        prober_(execution, scheduler),
        recorder_(execution, scheduler) {}
  Watcher& of(Cloud& cloud);
  Prober& prober() { return prober_; }
  Recorder& recorder() { return recorder_; }

 private:
  Execution& execution_;
  Scheduler& scheduler_;
  Prober prober_;
  Recorder recorder_;
  std::mutex mutex_;
  std::map<Cloud*, std::unique_ptr<Watcher>> watchers_;
};

}  // namespace radl
