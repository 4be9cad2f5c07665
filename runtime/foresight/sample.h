// Training data of the learned correction: deviations of measured times from analytic ones.
#pragma once

#include <vector>

namespace radl::foresight {

// A question with the shares of its analytic time: an error in computing speed affects only the first share,
// one in communication only the second.
struct Question {
  std::vector<double> features;  // logarithms: of nodes, batch, ..; as many for each question of a model
  double compute_share = 1, talk_share = 0;  // sum to 1
};

struct Sample {
  Question question;
  double log_ratio = 0;  // log(actual / analytic)
  double rounding = 0;   // relative standard error of the measurement
};

}  // namespace radl::foresight
