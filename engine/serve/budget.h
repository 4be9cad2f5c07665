// A shared limit (bytes, slots) for all requests. A request's share is returned when its charge is destroyed.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "common/clock.h"

namespace radl::engine::serve {

class Budget {
 public:
  explicit Budget(uint64_t capacity) : capacity_(capacity) {}

  class Charge {
   public:
    Charge() = default;
    Charge(Budget& budget, uint64_t amount) : budget_(&budget), amount_(amount) {}
    Charge(Charge&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), amount_(std::exchange(other.amount_, 0)) {}
    Charge& operator=(Charge&& other) noexcept {
      std::swap(budget_, other.budget_), std::swap(amount_, other.amount_);
      return *this;
    }
    ~Charge() { release(); }
    // Takes more from the same budget; false if there is not enough.
    [[nodiscard]] bool grow(uint64_t amount);
    void release();

   private:
    Budget* budget_ = nullptr;
    uint64_t amount_ = 0;
  };

  // Succeeds immediately or not at all.
  std::optional<Charge> try_take(uint64_t amount);
  // Waits for room in the order of calls. Fails after `until`, after close(), or if `amount` never fits.
  std::optional<Charge> take(uint64_t amount, SteadyClock::time_point until);
  // Ends all waits.
  void close();
  uint64_t capacity() const { return capacity_; }

 private:
  bool fits(uint64_t amount) const { return amount <= capacity_ - used_; }
  bool add(uint64_t amount);
  void give_back(uint64_t amount);

  const uint64_t capacity_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t used_ = 0;
  std::list<char> waiting_;  // one element per waiter, in order
  bool closed_ = false;
};

}  // namespace radl::engine::serve
