// A small forest of regression trees (Breiman 2001) over log(actual / analytic). Deterministic: random
// choices use a fixed seed, and the first of equal splits is taken.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/foresight/sample.h"

namespace radl::foresight {

class Forest {
 public:
  // Uses the newest (last) samples if there are more than it can handle.
  static Forest fit(const std::vector<Sample>& samples);
  static constexpr size_t kMostSamples = 2000;

  double mean(const Question& question) const;
  // Mean prediction for each sample by the trees that did not see it, in order.
  const std::vector<double>& held_out() const { return held_out_; }

 private:
  struct Branch {
    int feature = -1;      // -1: a leaf
    double threshold = 0;  // go `left` if the feature is at most this
    double value = 0;      // for a leaf
    int left = 0, right = 0;
  };
  using Tree = std::vector<Branch>;
  struct Grower;
  static double look_up(const Tree& tree, const std::vector<double>& columns);

  std::vector<Tree> trees_;
  std::vector<double> held_out_;
};

}  // namespace radl::foresight
