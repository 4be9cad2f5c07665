// Shares the state's lock among the actions of a run: held while an action may change resources,
// released while only jobs run, and reacquired for whatever comes next. Internal to runtime/exec;
// thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "runtime/state/store.h"

namespace radl {

class LockShare {
 public:
  // A job of this run. It counts as an action until its processes run independently.
  struct Job {
    bool aside = false;           // it runs independently
    unsigned long long seen = 0;  // actions that had begun at its last report
  };
  using Waiting = std::function<void(const LockInfo& holder)>;

  // The run must hold the lock. `waiting`: called once per wait for another run's lock. `taken_again`: called
  // after the lock is reacquired, since others may have held it; if it fails, the lock is released.
  LockShare(Store* store, std::string command, Waiting waiting, std::function<Status()> taken_again)
      : store_(store),
        command_(std::move(command)),
        waiting_(std::move(waiting)),
        taken_again_(std::move(taken_again)) {}

  // Begins an action. If the lock was released, waits for it. Lost: the state was removed meanwhile.
  // Cancelled or Timeout: `stop` came first. If it returns Ok, call leave() later.
  Status enter(const Stop& stop);
  void leave();
  // The job's processes run; called repeatedly while they do. Releases the lock at the second consecutive
  // call without a running or new action in between.
  void runs(Job& job);
  // The job has ended and counts as an action again: like enter(), but call leave() in any case.
  Status ends(Job& job, const Stop& stop);
  // Same if nothing of it must be written. Never waits for the lock.
  void forget(Job& job);

  bool given_back() const { return given_back_; }

 private:
  using Guard = std::unique_lock<std::mutex>;
  // One thread waits for the lock, the others for that thread. None holds mutex_ meanwhile: if another run
  // takes over a job, that run holds the lock and waits for the job, which must be able to end.
  Status take(Guard& guard, const Stop& stop);
  Status take_from_others(const Stop& stop);
  void count(Job& job);

  Store* const store_;
  const std::string command_;
  const Waiting waiting_;
  const std::function<Status()> taken_again_;
  std::mutex mutex_;  // guards all members below
  std::condition_variable taken_;
  bool taking_ = false;  // a thread waits for the lock
  int active_ = 0;       // running actions
  unsigned long long begun_ = 0;
  std::atomic<bool> given_back_{false};
};

}  // namespace radl
