// What every task that computes begins with: the data opened, the network built, the run's length known.
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

// bf16 where the job says so, or says "auto" and the processor computes with it (AVX-512 BF16 or AMX).
Precision resolve_precision(const std::string& name);

// How many batches a run has. A batch never crosses the end of an epoch; an epoch's last images that do not
// fill one are left for the next epoch's other order.
struct RunLength {
  uint64_t batches_per_epoch = 0;
  uint64_t total = 0;  // batches
  double epoch_of(uint64_t done) const {
    return static_cast<double>(done) / static_cast<double>(batches_per_epoch);
  }
};

class Setup {
 public:
  // Opens the dataset and builds the network, and fills in what the job leaves to the engine (defaults.h).
  // `training` false: for evaluation only.
  static Result<std::unique_ptr<Setup>> make(Job& job, bool training);

  float rate(uint64_t ticket) const {
    return schedule_.at(static_cast<double>(ticket), static_cast<double>(length.total));
  }

  std::string digest;  // job_digest() of the job as it was given
  data::Parts data;
  std::unique_ptr<Network> network;
  RunLength length;
  int batch = 0;  // the most images that the network takes at once
  Precision precision = Precision::Fp32;

 private:
  explicit Setup(Schedule schedule) : schedule_(std::move(schedule)) {}
  Schedule schedule_;
};

// The threads of this task: the job's, or all cores that this process may use.
int threads_of(const Job& job);
OptimizerConfig optimizer_config(const Job& job);
AverageConfig average_config(const Job& job, const RunLength& length);
// The training batches of the run, by number.
Result<std::unique_ptr<data::Loader>> make_loader(const Setup& setup, const Job& job);
// The sizes that images have before they have their own, by batch number.
std::vector<data::LoaderOptions::Stage> size_stages(const Job& job, const RunLength& length,
                                                    InputShape whole);
data::Augment augment_config(const AugmentSpec& spec);

// The share of the largest class: what an answer that is always the same gets right.
double largest_class_share(const data::Dataset& dataset);

// Sets a whitening first layer from the first images of the training part, as the model asks for it;
// nothing else.
Status whiten_from_data(Setup& setup, const Job& job);

}  // namespace radl::engine
