// A Gaussian process over log(actual / analytic): smooth where there is data, nothing where there is none.
// Rasmussen and Williams (2006), chapters 2 and 5. Deterministic.
//
// The covariance of two questions is s_c s_c' k_c + s_t s_t' k_t: shares of computing and of talking, each
// with a squared exponential of its own amplitude. Amplitudes, lengths and noise are those of the largest
// marginal likelihood, searched one after another.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "runtime/foresight/sample.h"

namespace radl::foresight {

class GaussianProcess {
 public:
  // Of more samples than it can take, the newest (last) ones.
  static GaussianProcess fit(const std::vector<Sample>& samples);
  static constexpr size_t kMostSamples = 300;

  double mean(const Question& question) const;
  // 0: among the data; 1: as far from it as can be.
  double novelty(const Question& question) const;
  // What it would have said of each of its samples without that one; in their order. Of those that were left
  // out, mean().
  const std::vector<double>& held_out() const { return held_out_; }

 private:
  struct Fitted;
  std::shared_ptr<const Fitted> fitted_;
  std::vector<double> held_out_;
};

}  // namespace radl::foresight
