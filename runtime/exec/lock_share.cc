#include "runtime/exec/lock_share.h"

namespace radl {
namespace {

// Another run has the lock for as long as it changes something.
constexpr std::chrono::hours kAsLongAsItTakes{24 * 365};

}  // namespace

Status LockShare::take(const Stop& stop) {
  if (!given_back_) return {};
  Status locked = store_->lock(command_, kAsLongAsItTakes, {}, stop);
  if (!locked.ok()) return locked;
  given_back_ = false;
  return taken_again_();
}

Status LockShare::enter() {
  std::lock_guard guard(mutex_);
  ++begun_;
  Status taken = take(stop_);
  if (taken.ok()) ++active_;
  return taken;
}

void LockShare::leave() {
  std::lock_guard guard(mutex_);
  --active_;
}

void LockShare::runs(Job& job) {
  // Somebody waits for the lock: it is not to be given back now, and the job is not to be kept waiting.
  std::unique_lock guard(mutex_, std::try_to_lock);
  if (!guard) return;
  if (!job.aside) --active_;
  const bool quiet = job.aside && active_ == 0 && job.seen == begun_;
  job.aside = true;
  job.seen = begun_;
  if (!quiet || given_back_) return;
  store_->unlock();
  given_back_ = true;
}

Status LockShare::ends(Job& job, const Stop& stop) {
  std::lock_guard guard(mutex_);
  if (job.aside) ++active_, ++begun_;
  job.aside = false;
  return take(stop);
}

void LockShare::forget(Job& job) {
  std::lock_guard guard(mutex_);
  if (job.aside) ++active_;
  job.aside = false;
}

}  // namespace radl
