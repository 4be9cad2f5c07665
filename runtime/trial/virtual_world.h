// A world for trials: time advances only during sleeps, and randomness comes from a seed.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/base/world.h"
#include "runtime/clouds/simulated/draws.h"

namespace radl {

class VirtualClock : public Clock {
 public:
  // `wall`: start time in seconds since 1970.
  explicit VirtualClock(double wall) : millis_(static_cast<long long>(wall * 1000)) {}
  double wall_seconds() override { return static_cast<double>(millis_.load()) / 1000; }
  std::chrono::steady_clock::time_point now() override {
    return std::chrono::steady_clock::time_point(std::chrono::milliseconds(millis_.load()));
  }
  void sleep(std::chrono::milliseconds time) override {
    if (time.count() > 0) millis_ += time.count();
  }
  bool passes_by_itself() const override { return false; }

 private:
  std::atomic<long long> millis_;
};

class SeededRandom : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : draws_(seed) {}
  std::string bytes(size_t count) override {
    std::string bytes(count, '\0');
    for (char& byte : bytes) byte = static_cast<char>(draws_.next() >> 56);
    return bytes;
  }

 private:
  simulated::Draws draws_;
};

}  // namespace radl
