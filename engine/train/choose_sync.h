// Chooses the exchange for the network: gradients at every step, or an occasional outer step.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "engine/train/outer_step.h"

namespace radl::engine {

// Measurements of a view's members.
struct LinkMeasure {
  size_t workers = 1;
  double step_seconds = 0;        // computation, of the slowest member
  double exchange_seconds = 0;    // of a sum, without waiting for slower members
  double round_trip_seconds = 0;  // of the slowest link; 0: unknown
};

// The member that the others wait for: its step takes over 1.5 times as long as that of the next slowest. -1:
// none.
int slow_member(std::span<const double> step_seconds);

struct SyncChoice {
  OuterRule rule;  // one step: every step is synchronous
  bool delayed() const { return rule.steps > 1; }
};

// The share of time that members spend computing, as predicted for `choice` from `measure`.
double predicted_efficiency(const SyncChoice& choice, const LinkMeasure& measure);

// The choice for these measurements. Keeps `present`, the current choice, unless another is clearly better,
// so that members do not switch at every border. Chooses synchronous steps if they cost at most a tenth of
// the time. Otherwise the delay is the duration of an exchange, and a round is four times as long.
SyncChoice choose_sync(const SyncChoice& present, const LinkMeasure& measure);

// "delayed outer step (16 local steps, delay 2): an exchange takes 103 ms, ..."
std::string choice_text(const SyncChoice& choice, const LinkMeasure& measure);

}  // namespace radl::engine
