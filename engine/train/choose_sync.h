// Which exchange a distance calls for: gradients in every step, or an outer step now and then.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "engine/train/outer_step.h"

namespace radl::engine {

// What the members of a view measured.
struct LinkMeasure {
  size_t workers = 1;
  double step_seconds = 0;        // of computing, of the slowest member
  double exchange_seconds = 0;    // of a sum, without the wait for slower members
  double round_trip_seconds = 0;  // of the longest link; 0: not known
};

// The member that the others wait for: its step takes over 1.5 times as long as the next slowest one's. -1:
// none.
int slow_member(std::span<const double> step_seconds);

struct SyncChoice {
  OuterRule rule;  // one step: every step is synchronous
  bool delayed() const { return rule.steps > 1; }
};

// The share of the time in which members compute, as `choice` predicts it from `measure`.
double predicted_efficiency(const SyncChoice& choice, const LinkMeasure& measure);

// The choice for these measures, of which `present` is in force: it stays unless another one is clearly
// better, so that members do not change at every border. A synchronous step is chosen if it costs at most a
// tenth of the time. Else the delay is what an exchange takes, and a round four times as long as the delay.
SyncChoice choose_sync(const SyncChoice& present, const LinkMeasure& measure);

// "delayed outer step (16 local steps, delay 2): an exchange takes 103 ms, ..."
std::string choice_text(const SyncChoice& choice, const LinkMeasure& measure);

}  // namespace radl::engine
