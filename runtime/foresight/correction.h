// The learned correction: a Gaussian process and a forest over log(actual / analytic), weighted by their
// accuracy on held-out data. No correction without enough data.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/foresight/forest.h"
#include "runtime/foresight/gaussian_process.h"

namespace radl::foresight {

class Correction {
 public:
  static constexpr size_t kFewestSamples = 5;  // fewer: no correction

  static Correction fit(const std::vector<Sample>& samples);

  bool empty() const { return samples_ == 0; }
  // The value to add to the logarithm of the analytic time.
  double log_factor(const Question& question) const;
  // GaussianProcess::novelty(); 1 without a correction.
  double novelty(const Question& question) const;
  // Held-out log(actual / predicted) of each sample, in order.
  const std::vector<double>& residuals() const { return residuals_; }

 private:
  size_t samples_ = 0;
  GaussianProcess process_;
  Forest forest_;
  // The weights; the remainder to 1 is the analytic time's own weight.
  double process_weight_ = 0, forest_weight_ = 0;
  std::vector<double> residuals_;
};

}  // namespace radl::foresight
