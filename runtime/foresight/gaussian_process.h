// A Gaussian process over log(actual / analytic): smooth near data, 0 far from it. Rasmussen and Williams
// (2006), chapters 2 and 5. Deterministic.
//
// The covariance of two questions is s_c s_c' k_c + s_t s_t' k_t: shares of computing and communication, each
// with a squared exponential of its own amplitude. Amplitudes, lengths and noise maximize the marginal
// likelihood by coordinate search.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/foresight/sample.h"

namespace radl::foresight {

class GaussianProcess {
 public:
  // Uses the newest (last) samples if there are more than it can handle.
  static GaussianProcess fit(const std::vector<Sample>& samples);
  static constexpr size_t kMostSamples = 300;

  double mean(const Question& question) const;
  // 0: among the data; 1: as far from it as possible.
  double novelty(const Question& question) const;
  // Leave-one-out prediction for each sample, in order; mean() for samples that were
  // dropped.
  const std::vector<double>& held_out() const { return held_out_; }

 private:
  struct Fitted;
  std::shared_ptr<const Fitted> fitted_;
  std::vector<double> held_out_;
};

}  // namespace radl::foresight
