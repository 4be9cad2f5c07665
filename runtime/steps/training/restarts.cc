#include "runtime/steps/training/restarts.h"

namespace radl::training {
namespace {

// For one task.
constexpr RestartPolicy kTaskRestarts{std::chrono::seconds(1), std::chrono::seconds(60),
                                      std::chrono::minutes(10), 6};
constexpr std::chrono::seconds kWord{3};  // within which the chief reports a worker that lost its link
constexpr std::chrono::milliseconds kGrace{
    1500};  // within which a process with a broken link ends on its own

}  // namespace

void Restarts::lost(const std::string& task) {
  std::lock_guard lock(mutex_);
  lost_.try_emplace(task, Clock::now());
  news_.notify_all();
}

void Restarts::joined(const std::string& task) {
  std::lock_guard lock(mutex_);
  lost_.erase(task);
  told_.erase(task);
}

void Restarts::end() {
  std::lock_guard lock(mutex_);
  over_ = true;
  news_.notify_all();
}

bool Restarts::again(const Task& task, int exit) {
  std::unique_lock lock(mutex_);
  const bool killed = exit < 0 || exit >= 128, lost_its_link = exit == 2;
  if (over_ || !may_lose_(task) || !(killed || lost_its_link)) return false;
  // Without the chief's word it is the chief or a server that is gone.
  if (lost_its_link) news_.wait_for(lock, kWord, [&] { return over_ || lost_.contains(task.name()); });
  if (over_ || (lost_its_link && !lost_.contains(task.name()))) return false;
  lost_.erase(task.name());
  told_.erase(task.name());
  RestartPolicy& policy = policies_.try_emplace(task.name(), kTaskRestarts).first->second;
  const auto wait = policy.next(Clock::now());
  if (!wait) return false;
  news_.wait_for(lock, *wait, [this] { return over_; });
  return !over_;
}

std::vector<std::string> Restarts::hung() {
  std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [task, since] : lost_) {
    if (over_ || told_.contains(task) || Clock::now() - since < kGrace) continue;
    out.push_back(task);
    told_.insert(task);
  }
  return out;
}

}  // namespace radl::training
