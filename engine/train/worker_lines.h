// A worker's own progress lines: what it did since the last one.
#pragma once

#include <chrono>

#include "engine/train/progress.h"
#include "engine/train/setup.h"

namespace radl::engine {

class WorkerLines {
 public:
  WorkerLines(const Job& job, const Setup& setup, Progress& progress)
      : job_(job), setup_(setup), progress_(progress) {}
  // One more batch is computed. Writes a line for the first and then about once a second.
  void add(uint64_t ticket, const StepResult& result, int images);
  uint64_t steps() const { return total_steps_; }

 private:
  using Clock = std::chrono::steady_clock;
  const Job& job_;
  const Setup& setup_;
  Progress& progress_;
  Clock::time_point last_ = Clock::now();
  uint64_t steps_ = 0, correct_ = 0, images_ = 0, total_steps_ = 0;
  double loss_ = 0;
};

}  // namespace radl::engine
