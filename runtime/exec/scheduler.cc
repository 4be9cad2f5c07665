#include "runtime/exec/scheduler.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace radl {

namespace {

class Scheduler {
 public:
  explicit Scheduler(const Schedule& schedule)
      : schedule_(schedule), queue_(schedule.dag, schedule.tolerant), seen_(schedule.dag.size()) {}

  std::vector<Dag::Id> run() {
    size_t wanted = std::min<size_t>(std::max(schedule_.parallelism, 1), schedule_.dag.size());
    {
      std::lock_guard guard(mutex_);
      pass_barriers();
    }
    std::vector<std::thread> threads;
    for (size_t i = 0; i < wanted; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    std::vector<Dag::Id> never;
    for (Dag::Id id = 0; id < seen_.size(); ++id) {
      if (!seen_[id]) never.push_back(id);
    }
    return never;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      if (queue_.done()) break;
      bool stopping = schedule_.stop();
      if (stopping && queue_.running() == 0) break;
      Dag::Id id = 0;
      if (!stopping && take_next(id)) {
        lock.unlock();
        bool ok = schedule_.run(id);
        lock.lock();
        finish(id, ok);
        changed_.notify_all();
        continue;
      }
      // Woken by whoever ends; now and then by itself, because a signal handler cannot wake it.
      changed_.wait_for(lock, std::chrono::milliseconds(100));
    }
    changed_.notify_all();
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
        if (!schedule_.tolerant[id]) continue;
        queue_.take(id);
        queue_.finished(id);
        seen_[id] = true;
        again = true;
        break;
      }
    }
  }

  const Schedule& schedule_;
  ReadyQueue queue_;
  std::vector<bool> seen_;
  std::set<std::string> held_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace

std::vector<Dag::Id> run_schedule(const Schedule& schedule) {
  if (schedule.dag.size() == 0) return {};
  return Scheduler(schedule).run();
}

}  // namespace radl
