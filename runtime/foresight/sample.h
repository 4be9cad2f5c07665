// What the learned correction is trained on: how far a measured time was from the analytic one.
#pragma once

#include <vector>

namespace radl::foresight {

// A question, and the shares of its analytic time: an error in how fast machines compute shows in the first
// alone, one in how they talk in the second alone.
struct Question {
  std::vector<double> features;  // logarithms: of nodes, batch, ..; as many for each question of a model
  double compute_share = 1, talk_share = 0;  // add up to 1
};

struct Sample {
  Question question;
  double log_ratio = 0;  // log(actual / analytic)
  double rounding = 0;   // relative standard error of the measurement itself
};

}  // namespace radl::foresight
