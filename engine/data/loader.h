// Batches for the training loop, prepared ahead of it by threads of its own.
//
// Which pictures a batch holds, their order and their augmentation depend on (seed, epoch, position) and on
// nothing else: not on threads, timing, or how far a run got before it was resumed.
//
// Sharding: an epoch's order is one permutation of the whole dataset; worker w of W takes the positions w,
// w+W, ... and every worker gets the same number of them (size / W, rounded down), so no worker waits at an
// epoch's end and no two see the same picture in one epoch.
#pragma once

#include <memory>
#include <span>

#include "common/status.h"
#include "engine/data/augment.h"
#include "engine/data/dataset.h"

namespace radl::engine::data {

struct LoaderOptions {
  int batch_size = 128;
  bool shuffle = true;    // false: stored order
  bool training = true;   // false: no augmentation, centre cut
  bool drop_last = true;  // false: the last batch of an epoch may be smaller
  uint64_t seed = 1;
  int worker = 0, workers = 1;
  int threads = 1;             // that prepare batches
  int prefetch = 3;            // batches kept ready
  bool skip_corrupt = false;   // leave pictures that cannot be decoded out (counted) instead of failing
  InputShape output{0, 0, 0};  // {0,0,0}: as stored
  Augment augment;
  Normalization normalization;
};

// One batch, owned by the loader and valid until the next call of next(), start_epoch() or the destructor.
struct LoadedBatch {
  engine::Batch batch;
  std::span<const size_t> indices;  // of the pictures, in the dataset
  int epoch = 0;
  size_t number = 0;  // in the epoch, from 0
};

struct LoaderStatistics {
  double wait_seconds = 0;  // that next() stood still because no batch was ready
  uint64_t pictures = 0, batches = 0;
  uint64_t skipped = 0;  // corrupt pictures left out
};

class Loader {
 public:
  // Invalid when sizes do not fit, or a worker's shard holds less than one batch (with the numbers).
  static Result<std::unique_ptr<Loader>> create(DatasetPtr dataset, const LoaderOptions& options);
  ~Loader();

  size_t batches_per_epoch() const;
  // Begins (or begins again) an epoch at a batch: a resumed run passes where it was.
  void start_epoch(int epoch, size_t first_batch = 0);
  // The next batch, or nullptr at the epoch's end. Corrupt names the picture.
  Result<const LoadedBatch*> next();
  LoaderStatistics statistics() const;
  InputShape output() const;

 private:
  struct Impl;
  explicit Loader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The order of one epoch: a permutation of 0..n-1 by (seed, epoch), or the identity.
std::vector<uint32_t> epoch_order(size_t n, uint64_t seed, int epoch, bool shuffle);

}  // namespace radl::engine::data
