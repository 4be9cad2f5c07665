// The learned correction: a Gaussian process and a forest over log(actual / analytic), each as much as it was
// right about what it had not seen. Where there is nothing to learn from there is none.
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
  // To be added to the logarithm of the analytic time.
  double log_factor(const Question& question) const;
  // GaussianProcess::novelty(); 1 where there is no correction.
  double novelty(const Question& question) const;
  // log(actual / predicted) of each sample, as if it had not been seen; in their order.
  const std::vector<double>& residuals() const { return residuals_; }

 private:
  size_t samples_ = 0;
  GaussianProcess process_;
  Forest forest_;
  // How much each counts; what is left of 1 is the analytic time's own.
  double process_weight_ = 0, forest_weight_ = 0;
  std::vector<double> residuals_;
};

}  // namespace radl::foresight
