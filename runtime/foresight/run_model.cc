#include "runtime/foresight/run_model.h"

#include <algorithm>
#include <cmath>

#include "runtime/foresight/anwar.h"

namespace radl::foresight {

std::string_view source_name(Source source) {
  switch (source) {
    case Source::Unknown:
      return "unknown";
    case Source::Guessed:
      return "guessed";
    case Source::Scaled:
      return "scaled";
    case Source::Measured:
      return "measured";
  }
  return "unknown";
}

Banded banded(double value, double ratio, Source source, std::string from) {
  const double wide = std::max(ratio, 1.0);
  return {value, value / wide, value * wide, source, std::move(from)};
}

Banded learnt_band(Banded figure, double ratio, size_t runs) {
  const double wide = std::max(ratio, 1.0);
  figure.low = figure.value / wide;
  figure.high = figure.value * wide;
  figure.band_runs = runs;
  return figure;
}

Banded sum_of(const std::vector<Banded>& parts) {
  Banded sum;
  sum.source = Source::Measured;
  double below = 0, above = 0;
  std::optional<size_t> runs;
  for (const Banded& part : parts) {
    if (part.high > part.low) runs = std::min(runs.value_or(part.band_runs), part.band_runs);
    sum.source = std::min(sum.source, part.source);
    sum.value += part.value;
    below += (part.value - part.low) * (part.value - part.low);
    above += (part.high - part.value) * (part.high - part.value);
  }
  sum.low = std::max(sum.value - std::sqrt(below), 0.0);
  sum.high = sum.value + std::sqrt(above);
  sum.band_runs = runs.value_or(0);
  return sum;
}

std::optional<double> with_interruptions(double seconds, const Interruptions& interruptions) {
  const double lost = interruptions.checkpoint_seconds / 2 + interruptions.restart_seconds,
               share = interruptions.per_hour * interruptions.machines / 3600 * lost;
  if (!(share < 1)) return std::nullopt;
  return seconds / (1 - share);
}

int64_t billed_micros(int64_t micros_per_hour, double seconds, const Billing& billing) {
  const double quantum = std::max(billing.quantum_seconds, 1e-6);
  return run_cost_micros(micros_per_hour,
                         std::max(billing.least_seconds, std::ceil(seconds / quantum - 1e-9) * quantum));
}

Money billed(const Money& per_hour, double seconds, const Billing& billing) {
  return {billed_micros(per_hour.micros, seconds, billing), per_hour.currency};
}

}  // namespace radl::foresight
