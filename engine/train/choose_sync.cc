#include "engine/train/choose_sync.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace radl::engine {
namespace {

constexpr double kEnough = 0.9, kEnoughToReturn = 0.95;  // efficiency of synchronous steps
constexpr double kSlow = 1.5;
constexpr uint64_t kSteps = 16, kRoundsOfDelay = 4, kMostDelay = 128;

uint64_t delay_for(const LinkMeasure& measure) {
  const double steps = std::ceil(measure.exchange_seconds / std::max(measure.step_seconds, 1e-9));
  return static_cast<uint64_t>(std::clamp(steps, 1.0, static_cast<double>(kMostDelay)));
}

}  // namespace

int slow_member(std::span<const double> step_seconds) {
  if (step_seconds.size() < 2) return -1;
  const auto slowest = std::max_element(step_seconds.begin(), step_seconds.end());
  double next = 0;
  for (auto at = step_seconds.begin(); at != step_seconds.end(); ++at)
    if (at != slowest) next = std::max(next, *at);
  return next > 0 && *slowest > kSlow * next ? static_cast<int>(slowest - step_seconds.begin()) : -1;
}

double predicted_efficiency(const SyncChoice& choice, const LinkMeasure& measure) {
  const double compute = static_cast<double>(choice.rule.steps) * measure.step_seconds,
               hidden = static_cast<double>(choice.rule.delay) * measure.step_seconds,
               waits = std::max(0.0, measure.exchange_seconds - hidden);
  return compute + waits > 0 ? compute / (compute + waits) : 1;
}

SyncChoice choose_sync(const SyncChoice& present, const LinkMeasure& measure) {
  if (measure.step_seconds <= 0 || measure.exchange_seconds <= 0) return present;
  if (predicted_efficiency({}, measure) >= (present.delayed() ? kEnoughToReturn : kEnough)) return {};
  const uint64_t delay = delay_for(measure);
  if (present.delayed() && present.rule.delay >= delay && present.rule.delay <= 2 * delay + 1) return present;
  SyncSpec sync;
  sync.delay = static_cast<int>(delay);
  sync.local_steps = static_cast<int>(std::max(kSteps, kRoundsOfDelay * delay));
  return {outer_rule(sync, measure.workers)};
}

std::string choice_text(const SyncChoice& choice, const LinkMeasure& measure) {
  const std::string what = choice.delayed()
                               ? fmt::format("delayed outer step ({} local steps, delay {}, momentum {:g})",
                                             choice.rule.steps, choice.rule.delay, choice.rule.momentum)
                               : "synchronous steps";
  return fmt::format(
      "{}: an exchange takes {:.1f} ms and a step {:.1f} ms (round trip {:.1f} ms); predicted efficiency "
      "{:.0f}%, {:.0f}% with synchronous steps",
      what, 1000 * measure.exchange_seconds, 1000 * measure.step_seconds, 1000 * measure.round_trip_seconds,
      100 * predicted_efficiency(choice, measure), 100 * predicted_efficiency({}, measure));
}

}  // namespace radl::engine
