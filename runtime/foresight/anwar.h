// The recommender of Anwar et al. (2021): cluster size from batch and latency, by look-up in measured rows.
// docs/algorithms.md has each formula and each place where ours differs from the print.
//
// In: rows (published_data.h) and a question. Out: a row, or a candidate by weights. Pure.
#pragma once

#include <optional>
#include <vector>

#include "common/status.h"
#include "runtime/foresight/fc2.h"
#include "runtime/foresight/published_data.h"

namespace radl::foresight {

// The row with exactly this batch and latency that takes least, ties to fewer machines; failed runs are none.
// Ours keeps the row of one machine at every latency, since it talks to nobody. NotFound: there is no such
// row; the hint names the nearest ones and sizes of which the run failed.
Result<StudyRow> look_up(const std::vector<StudyRow>& rows, int batch, double latency_ms,
                         Reading reading = Reading::Ours);

// Equations 4 and 5: t = o / x + l r. Seconds of an epoch, of operations, operations a second, seconds one
// way, and messages one after another in an epoch.
double epoch_seconds(double operations, double operations_per_second, double latency_seconds,
                     double messages);
// r, from two rows of the same cluster and batch: (t(l2) - t(l1)) / (l2 - l1); nullopt: a row is missing.
std::optional<double> messages_of(const std::vector<StudyRow>& rows, int machines, int batch,
                                  double from_latency_ms, double to_latency_ms);
// t = t(l1) + r (l - l1) with that r; one machine has no messages.
std::optional<double> line_over_latency(const std::vector<StudyRow>& rows, int machines, int batch,
                                        double from_latency_ms, double to_latency_ms, double latency_ms);

struct SizedCandidate {
  int machines = 1;
  double seconds = 0;  // of what is asked about, an epoch or a run
  Money per_hour;      // of the whole cluster
};

struct Weights {
  double time = 1;   // of an hour
  double money = 0;  // of one unit of the currency
};
// What a cost is (equation 3 has no time in it): a rate by the hour, or what the run costs.
enum class CostOf { Run, Rate };

// Minimises time x hours + money x cost among those of which the cost is within the budget; ties to the
// cheaper, then to fewer machines. Invalid: an empty list, weights that are negative, not finite or both 0,
// mixed currencies. NotFound: nothing is within the budget; the hint names the least that would do.
Result<SizedCandidate> least_weighted(const std::vector<SizedCandidate>& candidates, const Weights& weights,
                                      const std::optional<Money>& budget = {}, CostOf cost = CostOf::Run);
// Of a run that takes so long, by the second, rounded up to a millionth.
Money run_cost(const Money& per_hour, double seconds);
int64_t run_cost_micros(int64_t micros_per_hour, double seconds);

}  // namespace radl::foresight
