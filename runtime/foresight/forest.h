// A small forest of regression trees (Breiman 2001) over log(actual / analytic). Deterministic: the random
// choices come from a fixed seed, and of equal splits the first is taken.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/foresight/sample.h"

namespace radl::foresight {

class Forest {
 public:
  // Of more samples than it can take, the newest (last) ones.
  static Forest fit(const std::vector<Sample>& samples);
  static constexpr size_t kMostSamples = 2000;

  double mean(const Question& question) const;
  // Of each sample, the mean of the trees that did not see it; in their order.
  const std::vector<double>& held_out() const { return held_out_; }

 private:
  struct Branch {
    int feature = -1;      // -1: a leaf
    double threshold = 0;  // to `left` where the feature is at most this
    double value = 0;      // of a leaf
    int left = 0, right = 0;
  };
  using Tree = std::vector<Branch>;
  struct Grower;
  static double look_up(const Tree& tree, const std::vector<double>& columns);

  std::vector<Tree> trees_;
  std::vector<double> held_out_;
};

}  // namespace radl::foresight
