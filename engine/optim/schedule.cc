#include "engine/optim/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace radl::engine {

Result<Schedule> Schedule::make(const ScheduleConfig& c) {
  const std::vector<std::string> known{"constant", "step", "cosine", "one_cycle", "linear"};
  if (std::find(known.begin(), known.end(), c.name) == known.end())
    return invalid(fmt::format("unknown schedule \"{}\"", c.name))
        .with_hint(fmt::format("known are {}", fmt::join(known, ", ")));
  if (!(c.peak > 0) || !std::isfinite(c.peak))
    return invalid(fmt::format("peak is a positive number, not {}", c.peak));
  if (!(c.warmup >= 0 && c.warmup < 1))
    return invalid(fmt::format("warmup is a fraction below 1, not {}", c.warmup));
  if (!(c.start >= 0) || !(c.final >= 0)) return invalid("start and final are fractions of peak, 0 or more");
  float before = 0;
  for (float m : c.milestones) {
    if (!(m > before && m < 1)) return invalid("milestones are rising fractions between 0 and 1");
    before = m;
  }
  return Schedule(c);
}

float Schedule::at(double step, double steps) const {
  const double done = steps > 0 ? std::clamp(step / steps, 0.0, 1.0) : 0.0;
  const ScheduleConfig& c = config_;
  if (done < c.warmup) return static_cast<float>(c.peak * (c.start + (1 - c.start) * done / c.warmup));
  const double left = (done - c.warmup) / (1 - c.warmup);
  double factor = 1;
  if (c.name == "step") {
    for (float m : c.milestones) factor *= done >= m ? c.gamma : 1;
  } else if (c.name == "cosine") {
    factor = c.final + (1 - c.final) * 0.5 * (1 + std::cos(std::numbers::pi * left));
  } else if (c.name == "one_cycle" || c.name == "linear") {
    factor = 1 + (c.final - 1) * left;
  }
  return static_cast<float>(c.peak * factor);
}

}  // namespace radl::engine
