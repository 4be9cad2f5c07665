#include "runtime/exec/lock_share.h"

#include "common/guarded.h"

namespace radl {
namespace {

// Another run has the lock for as long as it changes something.
constexpr std::chrono::hours kAsLongAsItTakes{24 * 365};
constexpr std::chrono::milliseconds kAskStopEvery{50};

}  // namespace

Status LockShare::take_from_others(const Stop& stop) {
  if (Status locked = store_->lock(command_, kAsLongAsItTakes, waiting_, stop); !locked.ok()) return locked;
  Status read = taken_again_();
  if (!read.ok()) store_->unlock();
  return read;
}

Status LockShare::take(Guard& guard, const Stop& stop) {
  while (given_back_) {
    if (taking_) {
      if (stop.asked()) return stop.check();
      taken_.wait_for(guard, kAskStopEvery);
      continue;
    }
    taking_ = true;
    guard.unlock();
    Status taken = guarded([&] { return take_from_others(stop); });
    guard.lock();
    taking_ = false;
    if (taken.ok()) given_back_ = false;
    taken_.notify_all();
    return taken;
  }
  return {};
}

Status LockShare::enter(const Stop& stop) {
  Guard guard(mutex_);
  ++begun_;
  Status taken = take(guard, stop);
  if (taken.ok()) ++active_;
  return taken;
}

void LockShare::leave() {
  Guard guard(mutex_);
  --active_;
}

void LockShare::runs(Job& job) {
  // The lock will be released, and the job must not wait meanwhile.
  Guard guard(mutex_, std::try_to_lock);
  if (!guard) return;
  if (!job.aside) --active_;
  const bool quiet = job.aside && active_ == 0 && job.seen == begun_;
  job.aside = true;
  job.seen = begun_;
  if (!quiet || given_back_) return;
  store_->unlock();
  given_back_ = true;
}

void LockShare::count(Job& job) {
  if (job.aside) ++active_;
  job.aside = false;
}

Status LockShare::ends(Job& job, const Stop& stop) {
  Guard guard(mutex_);
  if (job.aside) ++begun_;
  count(job);
  return take(guard, stop);
}

void LockShare::forget(Job& job) {
  Guard guard(mutex_);
  count(job);
}

}  // namespace radl
