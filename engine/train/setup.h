// The setup of every task that computes: the opened data, the network and the run's length.
#pragma once

#include <memory>
#include <string>

#include "engine/data/augment.h"
#include "engine/data/loader.h"
#include "engine/data/open.h"
#include "engine/model/network.h"
#include "engine/optim/optimizer.h"
#include "engine/optim/schedule.h"
#include "engine/train/job.h"

namespace radl::engine {

// bf16 if the job requests it, or if it says "auto" and the processor supports it (AVX-512 BF16 or AMX).
Precision resolve_precision(const std::string& name);

// The number of batches of a run. A batch never crosses the end of an epoch; images left over appear in later
// epochs, which use another order.
struct RunLength {
  uint64_t batches_per_epoch = 0;
  uint64_t total = 0;  // batches
  double epoch_of(uint64_t done) const {
    return static_cast<double>(done) / static_cast<double>(batches_per_epoch);
  }
};

class Setup {
 public:
  // Opens the dataset, builds the network, and applies the engine's defaults to the job (defaults.h).
  // `training` false: for evaluation only.
  static Result<std::unique_ptr<Setup>> make(Job& job, bool training);

  float rate(uint64_t ticket) const {
    return schedule_.at(static_cast<double>(ticket), static_cast<double>(length.total));
  }

  std::string digest;  // job_digest() of the original job
  data::Parts data;
  std::unique_ptr<Network> network;
  RunLength length;
  int batch = 0;  // the network's batch size
  Precision precision = Precision::Fp32;

 private:
  explicit Setup(Schedule schedule) : schedule_(std::move(schedule)) {}
  Schedule schedule_;
};

// The threads of this task: the job's, or all cores available to this process.
int threads_of(const Job& job);
OptimizerConfig optimizer_config(const Job& job);
AverageConfig average_config(const Job& job, const RunLength& length);
// The run's training batches, by number.
Result<std::unique_ptr<data::Loader>> make_loader(const Setup& setup, const Job& job);
// The sizes of images before they reach full size, by batch number.
std::vector<data::LoaderOptions::Stage> size_stages(const Job& job, const RunLength& length,
                                                    InputShape whole);
data::Augment augment_config(const AugmentSpec& spec);

// The share of the largest class: the accuracy of a constant answer.
double largest_class_share(const data::Dataset& dataset);

// Whitens the first layer from the first images of the training part, if the model requests
// it.
Status whiten_from_data(Setup& setup, const Job& job);

}  // namespace radl::engine
