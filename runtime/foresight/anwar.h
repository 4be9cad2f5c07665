// The recommender of Anwar et al. (2021): cluster size from batch and latency, by lookup in measured rows.
// docs/algorithms.md has each formula and each deviation from the publication.
//
// In: rows (published_data.h) and a question. Out: a row, or a candidate by weights. Pure.
#pragma once

#include <optional>
#include <vector>

#include "common/status.h"
#include "runtime/foresight/fc2.h"
#include "runtime/foresight/published_data.h"

namespace radl::foresight {

// The fastest row with exactly this batch and latency; ties go to fewer machines; failed runs are ignored.
// `Ours` keeps the row of a single machine at every latency, because it has no communication. NotFound: no
// such row; the hint names the nearest ones, and sizes whose run failed.
Result<StudyRow> look_up(const std::vector<StudyRow>& rows, int batch, double latency_ms,
                         Reading reading = Reading::Ours);

// Equations 4 and 5: t = o / x + l r. Seconds of an epoch from operations, operations per second, one-way
// latency in seconds, and sequential messages per epoch.
double epoch_seconds(double operations, double operations_per_second, double latency_seconds,
                     double messages);
// r from two rows of the same cluster and batch: (t(l2) - t(l1)) / (l2 - l1); nullopt: a row is missing.
std::optional<double> messages_of(const std::vector<StudyRow>& rows, int machines, int batch,
                                  double from_latency_ms, double to_latency_ms);
// t = t(l1) + r (l - l1) with that r; a single machine has no messages.
std::optional<double> line_over_latency(const std::vector<StudyRow>& rows, int machines, int batch,
                                        double from_latency_ms, double to_latency_ms, double latency_ms);

struct SizedCandidate {
  int machines = 1;
  double seconds = 0;  // of the question's epoch or run
  Money per_hour;      // of the whole cluster
};

struct Weights {
  double time = 1;   // of an hour
  double money = 0;  // of one unit of the currency
};
// The meaning of cost (equation 3 contains no time): the hourly rate, or the cost of the run.
enum class CostOf { Run, Rate };

// Minimizes time x hours + money x cost among those within the budget; ties go to the cheaper, then to fewer
// machines. Invalid: an empty list, weights that are negative, not finite or both 0, or mixed currencies.
// NotFound: nothing is within the budget; the hint names the smallest workable one.
Result<SizedCandidate> least_weighted(const std::vector<SizedCandidate>& candidates, const Weights& weights,
                                      const std::optional<Money>& budget = {}, CostOf cost = CostOf::Run);
// The cost of a run, billed by the second, rounded up to a millionth.
Money run_cost(const Money& per_hour, double seconds);
int64_t run_cost_micros(int64_t micros_per_hour, double seconds);

}  // namespace radl::foresight
