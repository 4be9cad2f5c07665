// A world in which time passes only when somebody sleeps, and chance is a counter, different in each process.
#pragma once

#include <unistd.h>

#include <atomic>

#include "common/digest.h"
#include "runtime/base/world.h"

namespace radl::test {

class FakeClock : public Clock {
 public:
  double wall_seconds() override { return 1.7e9 + static_cast<double>(passed_.load()) / 1000; }
  std::chrono::steady_clock::time_point now() override {
    return std::chrono::steady_clock::time_point(std::chrono::hours(1000)) +
           std::chrono::milliseconds(passed_.load());
  }
  void sleep(std::chrono::milliseconds time) override { passed_ += time.count(); }
  bool passes_by_itself() const override { return false; }
  long long passed() const { return passed_.load(); }  // milliseconds

 private:
  std::atomic<long long> passed_{0};
};

class CountingRandom : public Random {
 public:
  std::string bytes(size_t count) override {
    return from_hex(sha256_hex(std::to_string(::getpid()) + " " + std::to_string(next_++)))
        .value()
        .substr(0, count);
  }

 private:
  std::atomic<long long> next_{1};
};

struct FakeWorld {
  FakeClock clock;
  CountingRandom random;
  World world{clock, real_world().files, random, environment_of_process()};
};

}  // namespace radl::test
