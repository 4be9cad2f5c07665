// Runs one training batch through a network, split into the job's number of pieces (gradient accumulation);
// or, if the job has a pace, waits as long as the batch would take.
#pragma once

#include <chrono>
#include <vector>

#include "engine/model/network.h"
#include "engine/train/job.h"

namespace radl::engine {

// Duration of the step of batch `ticket` by that pace. Deterministic.
std::chrono::duration<double> paced_step(const PaceSpec& pace, int images, uint64_t seed, uint64_t ticket);

// The largest piece of a batch: the network's batch size.
int piece_size(const Job& job);

class BatchStep {
 public:
  BatchStep(Network& network, const Job& job)
      : network_(network), piece_(piece_size(job)), pace_(job.pace), seed_(job.seed) {}
  // Forward and backward over the whole batch, number `ticket` of the run. Calls `ready` for final
  // gradients(), as in Network::forward_backward.
  StepResult run(const Batch& batch, uint64_t ticket, const GradientsReady& ready = {});
  // The gradient of the mean loss over the batch; valid until the next run().
  std::span<float> gradients();
  // How often the last run() updated the network's statistics.
  uint32_t pieces() const { return pieces_; }

 private:
  StepResult wait(const Batch& batch, uint64_t ticket, const GradientsReady& ready);

  Network& network_;
  int piece_;
  PaceSpec pace_;
  uint64_t seed_;
  uint32_t pieces_ = 1;
  std::vector<float> sum_;  // empty when a batch is one piece
};

}  // namespace radl::engine
