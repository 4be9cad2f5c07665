// One for each cloud of a run: looks, in one call for all that is pending there, and resumes what has come to
// pass. Internal to runtime/exec.
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

// What is waited for.
struct Watch {
  enum class For {
    There,    // seen in any phase but Pending, or proven not to be there
    Changed,  // shows what `spec` asks for and is ready; what it shows after `settled_at` is believed
    Settled,  // as There, but nothing is believed before `settled_at`
    Gone,     // not seen (any more)
  };
  For what = For::There;
  std::string token, id;  // one of both
  std::string address;    // for messages
  // Only a look that began later proves that nothing is there.
  Scheduler::TimePoint settled_at;
  Scheduler::TimePoint deadline;
  // True: what is looked for has been accepted, so the first Ctrl-C waits for it too.
  bool accepted = true;
  Json spec = nullptr;  // Changed: compared as far as the cloud shows it
};

// Whether what is seen is what `spec` asks for, as far as the cloud shows it.
bool shows(const Seen& seen, const Json& spec);

struct Sight {
  // Timeout: the deadline passed first. Cancelled: stopped. Else why the cloud cannot be asked.
  Status status;
  std::unique_ptr<Seen> seen;  // only of ok; a pointer, so that what waits does not hold the room for it
};

class Watcher {
 public:
  Watcher(Execution& execution, Cloud& cloud, Scheduler& scheduler)
      : execution_(execution), cloud_(cloud), scheduler_(scheduler) {}

  struct Slot {
    Watch watch;
    std::unique_ptr<Sight> sight;
    std::optional<ResourcePhase> last;  // seen
    std::optional<Scheduler::Ticket> ticket;
    bool told = false;     // that it does not show yet
    bool settled = false;  // and its sight was taken
  };
  std::shared_ptr<Slot> add(Watch watch);
  bool is_settled(const Slot& slot) const;
  // What came of it, once it is settled; then it is watched no more.
  std::unique_ptr<Sight> take(Slot& slot);
  // False when there is a sight already; else `ticket` is resumed as soon as there is one.
  bool wait(const std::shared_ptr<Slot>& slot, Scheduler::Ticket ticket);
  void drop(const std::shared_ptr<Slot>& slot);

 private:
  // How long a look will take, by the last one. These two with the lock held.
  std::chrono::milliseconds expected() const;
  void plan_look();
  void look();
  // One call for these; judges each of them.
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
  std::chrono::milliseconds took_{0};   // the last look
  size_t of_ = 0;                       // how many things it was for
  Scheduler::TimePoint peace_until_{};  // of it: not again before, while something is being asked for
  std::optional<Scheduler::TimePoint> next_look_, due_;  // due_: the next deadline
  bool failed_ = false;                                  // the last look: told once
};

// The watchers of a run, made as they are needed, its prober and its recorder.
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
