// One training batch through a network, in as many pieces as the job says (gradient accumulation).
#pragma once

#include <vector>

#include "engine/model/network.h"
#include "engine/train/job.h"

namespace radl::engine {

// The largest piece of a batch: what the network must be built for.
int piece_size(const Job& job);

class BatchStep {
 public:
  BatchStep(Network& network, const Job& job) : network_(network), piece_(piece_size(job)) {}
  // Forward and backward over the whole batch, which is number `ticket` of the run.
  StepResult run(const Batch& batch, uint64_t ticket);
  // Of the mean loss over the batch; valid until the next run().
  std::span<float> gradients();
  // How often the last run() updated the network's statistics.
  uint32_t pieces() const { return pieces_; }

 private:
  Network& network_;
  int piece_;
  uint32_t pieces_ = 1;
  std::vector<float> sum_;  // empty when a batch is one piece
};

}  // namespace radl::engine
