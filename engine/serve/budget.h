// An amount (bytes, places) that all requests share. What a request takes is given back when its charge ends.
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
    // Takes more of the same budget; false: there is no room.
    [[nodiscard]] bool grow(uint64_t amount);
    void release();

   private:
    Budget* budget_ = nullptr;
    uint64_t amount_ = 0;
  };

  // Now or not at all.
  std::optional<Charge> try_take(uint64_t amount);
  // In the order of asking, when there is room; not after `until`, after close(), or if it can never fit.
  std::optional<Charge> take(uint64_t amount, SteadyClock::time_point until);
  // Nobody waits any more.
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
  std::list<char> waiting_;  // one element for each that waits, the first in front
  bool closed_ = false;
};

}  // namespace radl::engine::serve
