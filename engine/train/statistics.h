// Running statistics of batch normalisation, where several workers add to the same ones.
//
// A statistic is a running mean: after a batch it is keep * before + (1 - keep) * the batch's own. What a
// worker hands in is the second part alone. So it does not matter how old the statistics are that it had
// read, nor how many workers there are: a server's remain a mean of what batches had. (Adding up changes,
// which are against old values, diverges: with momentum 0.4 from 5 workers on, with 0.1 from 17.)
#pragma once

#include <span>
#include <vector>

#include "engine/model/network.h"

namespace radl::engine {

// For each number of Network::statistics(), the share that an update keeps; 1 if no update changes it, as in
// a frozen layer.
std::vector<float> statistics_keep(const Network& network);

// Around a training step, which computes with the batch's statistics and only writes running ones: finds what
// it adds to these.
class StatisticsProbe {
 public:
  explicit StatisticsProbe(Network& network) : network_(network), keep_(statistics_keep(network)) {}
  void begin();  // sets to 0 the statistics that the step updates
  void read(std::vector<float>& added) const;

 private:
  Network& network_;
  std::vector<float> keep_;
};

}  // namespace radl::engine
