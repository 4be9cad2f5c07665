// Epoch times of clusters with error bars: the table's formula (cluster_table.h) and the learned correction.
//
// In: measured rows. Out: an estimate for any size, batch and latency, its band, and whether it is outside of
// the measurements. Pure and deterministic.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/foresight/cluster_table.h"
#include "runtime/foresight/correction.h"

namespace radl::foresight {

struct EpochEstimate {
  double seconds = 0, low = 0, high = 0;
  EpochParts parts;   // uncorrected
  double factor = 1;  // of the correction
  std::vector<std::string> outside;
  std::optional<double> measured;  // mean of rows with exactly this question; for one node at any latency
};

class EpochModel {
 public:
  // `failed`: runs that did not fit into memory; their seconds are ignored. Invalid: no rows.
  static Result<EpochModel> fit(const std::vector<EpochTime>& rows,
                                const std::vector<EpochTime>& failed = {});

  // `confidence` of the band, between 0 and 1. Unsupported: the batch does not fit into memory. NotFound:
  // nothing similar was measured.
  Result<EpochEstimate> predict(int nodes, double batch, double latency_ms, double confidence = 0.8) const;
  // Held-out |log(actual / predicted)| of the rows, ascending.
  const std::vector<double>& held_out() const { return held_out_; }
  // The best size, as an index into `estimates`: the smallest weighted time. If a smaller cluster is within
  // the model's 80% prediction error, the two are indistinguishable, and the smaller one wins. Measured times
  // are compared exactly. nullopt: no estimates.
  struct SizedEstimate {
    int nodes = 1;
    double weight = 1;  // weight of a second at this size
    EpochEstimate estimate;
  };
  std::optional<size_t> choose(const std::vector<SizedEstimate>& estimates) const;
  const Correction& correction() const { return correction_; }

 private:
  std::optional<double> corrected(int nodes, double batch, double latency_ms) const;
  static Result<EpochModel> fit_once(const std::vector<EpochTime>& rows);

  std::optional<double> measured(int nodes, double batch, double latency_ms) const;

  std::vector<EpochTime> rows_;
  std::optional<ClusterTable> table_;
  Correction correction_;
  std::vector<double> held_out_, held_out_sizes_;
  std::optional<double> failing_share_;
};

// The value below which this share of `sorted` lies, by conformal prediction (Vovk 2005): the one at rank
// ceil((n + 1) share), or the largest if there are too few.
double conformal_quantile(const std::vector<double>& sorted, double share);

}  // namespace radl::foresight
