#include "runtime/exec/scheduler.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>

#include "common/guarded.h"

namespace radl {

namespace {

class Scheduler {
 public:
  explicit Scheduler(const Schedule& schedule)
      : schedule_(schedule), queue_(schedule.dag, schedule.tolerant), seen_(schedule.dag.size()) {}

  Scheduled run() {
    size_t wanted = std::min<size_t>(std::max(schedule_.parallelism, 1), schedule_.dag.size());
    {
      std::lock_guard guard(mutex_);
      pass_barriers();
    }
    {
      Threads threads;
      for (size_t i = 1; i < wanted; ++i) {
        if (!threads.start([this] { work(); }).ok()) break;
      }
      work();
    }
    Scheduled result;
    result.status = std::move(broken_);
    for (Dag::Id id = 0; id < seen_.size(); ++id) {
      if (!seen_[id]) result.never.push_back(id);
    }
    return result;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    // What throws here is the scheduling itself: then nothing more is started.
    Status worked = guarded([&]() -> Status { return work(lock); });
    if (!lock.owns_lock()) lock.lock();
    if (!worked.ok() && broken_.ok()) broken_ = std::move(worked);
    changed_.notify_all();
  }

  Status work(std::unique_lock<std::mutex>& lock) {
    while (true) {
      if (queue_.done()) return {};
      bool stopping = !broken_.ok() || schedule_.stop();
      if (stopping && running_ == 0) return {};
      Dag::Id id = 0;
      if (!stopping && take_next(id)) {
        ++running_;
        lock.unlock();
        bool ok = false;
        (void)guarded([&]() -> Status { return ok = schedule_.run(id), Status(); });
        lock.lock();
        --running_;
        finish(id, ok);
        changed_.notify_all();
        continue;
      }
      // Woken by whoever ends; now and then by itself, because a signal handler cannot wake it.
      changed_.wait_for(lock, std::chrono::milliseconds(100));
    }
  }

  bool take_next(Dag::Id& id) {
    for (Dag::Id candidate : queue_.ready()) {
      std::vector<std::string> names = schedule_.exclusive(candidate);
      bool free = std::none_of(names.begin(), names.end(),
                               [&](const std::string& name) { return held_.count(name); });
      if (!free) continue;
      held_.insert(names.begin(), names.end());
      queue_.take(candidate);
      seen_[candidate] = true;
      id = candidate;
      return true;
    }
    return false;
  }

  void finish(Dag::Id id, bool ok) {
    for (const std::string& name : schedule_.exclusive(id)) held_.erase(name);
    if (ok) {
      queue_.finished(id);
    } else {
      for (Dag::Id given_up : queue_.failed(id)) {
        seen_[given_up] = true;
        schedule_.skipped(given_up, id);
      }
    }
    pass_barriers();
  }

  void pass_barriers() {
    for (bool again = true; again;) {
      again = false;
      for (Dag::Id id : queue_.ready()) {
        if (!schedule_.barrier[id]) continue;
        queue_.take(id);
        queue_.finished(id);
        seen_[id] = true;
        again = true;
        break;
      }
    }
  }

  const Schedule& schedule_;
  Status broken_;
  size_t running_ = 0;
  ReadyQueue queue_;
  std::vector<bool> seen_;
  std::set<std::string> held_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace

Scheduled run_schedule(const Schedule& schedule) {
  if (schedule.dag.size() == 0) return {};
  return Scheduler(schedule).run();
}

}  // namespace radl
