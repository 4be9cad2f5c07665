// The phases and cost of a run, and the overhead of spot preemptions. docs/model.md. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/base/money.h"

namespace radl::foresight {

// The source of a figure with its 80% band.
enum class Source { Unknown, Guessed, Scaled, Measured };
std::string_view source_name(Source source);  // "unknown", "guessed", "scaled", "measured"

struct Banded {
  double value = 0, low = 0, high = 0;
  Source source = Source::Unknown;
  std::string from;  // "5 runs here", "scaled from 2 cpu local"; for display
  size_t band_runs =
      0;  // number of runs whose errors define the band; 0: the band is a prior that was never tested
  bool known() const { return source != Source::Unknown; }
};
// The band value / ratio to value * ratio; ratio at least 1.
Banded banded(double value, double ratio, Source source, std::string from);
// Same, with a band learned from runs.
Banded learnt_band(Banded figure, double ratio, size_t runs);
// Unknown if a part is; its band is a prior if that of a part is. Bands of independent parts are combined in
// quadrature by the weighted widths of their logarithms.
Banded sum_of(const std::vector<Banded>& parts);

// The cost of a spot preemption: half a checkpoint interval is recomputed, and a machine must be created.
// nullopt: more work is lost than done.
struct Interruptions {
  double per_hour = 0;  // per machine
  int machines = 1;
  double checkpoint_seconds = 60;  // between two checkpoints
  double restart_seconds = 120;    // until the run resumes
};
std::optional<double> with_interruptions(double seconds, const Interruptions& interruptions);

// How a provider bills machine time.
struct Billing {
  double quantum_seconds = 1, least_seconds = 60;
};
// Price for the billed time, rounded up to a millionth.
int64_t billed_micros(int64_t micros_per_hour, double seconds, const Billing& billing);
Money billed(const Money& per_hour, double seconds, const Billing& billing);

}  // namespace radl::foresight
