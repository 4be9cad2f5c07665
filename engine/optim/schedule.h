// Learning-rate schedules: pure functions of training progress.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"

namespace radl::engine {

struct ScheduleConfig {
  std::string name = "constant";  // constant, step, cosine, one_cycle, linear
  float peak = 0.1f;              // the highest learning rate
  float start = 0;                // one_cycle, linear and warm-up: the rate at step 0, as a fraction of peak
  float final = 0;                // the rate at the end, as a fraction of peak
  float warmup = 0;               // fraction of training during which the rate rises from start to peak
  std::vector<float> milestones;  // step: fractions of training, ascending ({0.5, 0.75})
  float gamma = 0.1f;             // step: factor at each milestone
};

class Schedule {
 public:
  static Result<Schedule> make(const ScheduleConfig& config);
  // The learning rate of update `step` (from 0) of `steps`.
  float at(double step, double steps) const;

 private:
  explicit Schedule(ScheduleConfig config) : config_(std::move(config)) {}
  ScheduleConfig config_;
};

}  // namespace radl::engine
