// One training batch through a network, in as many pieces as the job says (gradient accumulation); or, where
// the job has a pace, as long a wait as that batch would take.
#pragma once

#include <chrono>
#include <vector>

#include "engine/model/network.h"
#include "engine/train/job.h"

namespace radl::engine {

// How long the step of batch number `ticket` takes by that pace. Deterministic.
std::chrono::duration<double> paced_step(const PaceSpec& pace, int images, uint64_t seed, uint64_t ticket);

// The largest piece of a batch: what the network must be built for.
int piece_size(const Job& job);

class BatchStep {
 public:
  BatchStep(Network& network, const Job& job)
      : network_(network), piece_(piece_size(job)), pace_(job.pace), seed_(job.seed) {}
  // Forward and backward over the whole batch, which is number `ticket` of the run. `ready` is called for
  // gradients() that are final, as in Network::forward_backward.
  StepResult run(const Batch& batch, uint64_t ticket, const GradientsReady& ready = {});
  // Of the mean loss over the batch; valid until the next run().
  std::span<float> gradients();
  // How often the last run() updated the network's statistics.
  uint32_t pieces() const { return pieces_; }

 private:
  StepResult wait(const Batch& batch, uint64_t ticket);

  Network& network_;
  int piece_;
  PaceSpec pace_;
  uint64_t seed_;
  uint32_t pieces_ = 1;
  std::vector<float> sum_;  // empty when a batch is one piece
};

}  // namespace radl::engine
