// A run's phases, its cost, and what spot machines that are taken back add. docs/model.md. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/base/money.h"

namespace radl::foresight {

// A figure with its 80% band and where it is from.
enum class Source { Unknown, Guessed, Scaled, Measured };
std::string_view source_name(Source source);  // "unknown", "guessed", "scaled", "measured"

struct Banded {
  double value = 0, low = 0, high = 0;
  Source source = Source::Unknown;
  std::string from;  // "5 runs here", "scaled from 2 cpu local"; for people
  size_t band_runs =
      0;  // whose errors the band is learnt from; 0: it is a prior, which nothing here has tested
  bool known() const { return source != Source::Unknown; }
};
// value / ratio to value * ratio, ratio at least 1.
Banded banded(double value, double ratio, Source source, std::string from);
// The same, with a band that is learnt from runs.
Banded learnt_band(Banded figure, double ratio, size_t runs);
// Unknown when a part is, and its band a prior when that of a part is; bands of independent parts: their
// logarithms' widths, weighted, in quadrature.
Banded sum_of(const std::vector<Banded>& parts);

// What a spot machine that is taken back costs: half an interval between checkpoints is done again, and a
// machine must be made. nullopt: more is lost than is done.
struct Interruptions {
  double per_hour = 0;  // of one machine
  int machines = 1;
  double checkpoint_seconds = 60;  // between two checkpoints
  double restart_seconds = 120;    // until the run goes on
};
std::optional<double> with_interruptions(double seconds, const Interruptions& interruptions);

// How a provider counts the time of a machine.
struct Billing {
  double quantum_seconds = 1, least_seconds = 60;
};
// Price by billed time, rounded up to a millionth.
int64_t billed_micros(int64_t micros_per_hour, double seconds, const Billing& billing);
Money billed(const Money& per_hour, double seconds, const Billing& billing);

}  // namespace radl::foresight
