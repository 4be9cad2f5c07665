// The state's lock as the actions of a run share it: held while one of them may change resources, given back
// while nothing but jobs is under way, and taken again for whatever comes next. Internal to runtime/exec;
// safe to use from several threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "runtime/state/store.h"

namespace radl {

class LockShare {
 public:
  // A job of this run. It counts as an action until it runs by itself.
  struct Job {
    bool aside = false;           // it runs by itself
    unsigned long long seen = 0;  // actions that had begun when it was heard of last
  };
  using Waiting = std::function<void(const LockInfo& holder)>;

  // The run holds the lock. `waiting`: called once for each wait for another run's lock. `taken_again`:
  // called with the lock, which others may have had meanwhile; if it fails, the lock is given back again.
  LockShare(Store* store, std::string command, Waiting waiting, std::function<Status()> taken_again)
      : store_(store),
        command_(std::move(command)),
        waiting_(std::move(waiting)),
        taken_again_(std::move(taken_again)) {}

  // An action begins. If the lock was given back, waits for it: Lost if the state was removed meanwhile,
  // Cancelled or Timeout if `stop` comes first. leave() follows if it is ok.
  Status enter(const Stop& stop);
  void leave();
  // The job's processes run. Called again and again while they do: the lock is given back at the second call
  // in a row before which no action was under way or begun.
  void runs(Job& job);
  // The job has ended, and counts as an action again: as enter(), but it leaves in any case.
  Status ends(Job& job, const Stop& stop);
  // The same if nothing of it is to be written. Never waits for the lock.
  void forget(Job& job);

  bool given_back() const { return given_back_; }

 private:
  using Guard = std::unique_lock<std::mutex>;
  // One thread waits for the lock, the others for that one. All do so without mutex_: a job that another run
  // takes over must be able to end meanwhile, as that run has the lock and waits for the job.
  Status take(Guard& guard, const Stop& stop);
  Status take_from_others(const Stop& stop);
  void count(Job& job);

  Store* const store_;
  const std::string command_;
  const Waiting waiting_;
  const std::function<Status()> taken_again_;
  std::mutex mutex_;  // of all below
  std::condition_variable taken_;
  bool taking_ = false;  // a thread waits for the lock
  int active_ = 0;       // actions under way
  unsigned long long begun_ = 0;
  std::atomic<bool> given_back_{false};
};

}  // namespace radl
