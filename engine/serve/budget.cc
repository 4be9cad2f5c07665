#include "engine/serve/budget.h"

namespace radl::engine::serve {

bool Budget::Charge::grow(uint64_t amount) {
  if (!budget_ || !budget_->add(amount)) return false;
  amount_ += amount;
  return true;
}

void Budget::Charge::release() {
  if (budget_) budget_->give_back(amount_);
  budget_ = nullptr, amount_ = 0;
}

bool Budget::add(uint64_t amount) {
  std::lock_guard lock(mutex_);
  if (!fits(amount)) return false;
  used_ += amount;
  return true;
}

std::optional<Budget::Charge> Budget::try_take(uint64_t amount) {
  if (!add(amount)) return std::nullopt;
  return Charge(*this, amount);
}

std::optional<Budget::Charge> Budget::take(uint64_t amount, SteadyClock::time_point until) {
  if (amount > capacity_) return std::nullopt;
  std::unique_lock lock(mutex_);
  const auto place = waiting_.insert(waiting_.end(), 0);
  const bool room = changed_.wait_until(
      lock, until, [&] { return closed_ || (place == waiting_.begin() && fits(amount)); });
  waiting_.erase(place);
  changed_.notify_all();  // who is first now may fit
  if (!room || closed_) return std::nullopt;
  used_ += amount;
  return Charge(*this, amount);
}

void Budget::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void Budget::give_back(uint64_t amount) {
  std::lock_guard lock(mutex_);
  used_ -= amount;
  changed_.notify_all();
}

}  // namespace radl::engine::serve
