// Training batches by number, prepared ahead of the training loop on background threads.
//
// Batch t is the (t mod n)-th of epoch t / n, where n = size / batch_size rounded down. (Images left
// over at the end of an epoch appear in later epochs, which use another order.) The images of a batch,
// their order and augmentation depend only on seed, epoch and image, not on the caller, the time or the
// number of threads. So any member of a cluster can compute any batch, and a resumed run continues
// exactly.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/status.h"
#include "engine/data/augment.h"
#include "engine/data/dataset.h"

namespace radl::engine::data {

struct LoaderOptions {
  int batch_size = 128;
  uint64_t seed = 1;
  int threads = 1;            // threads that prepare batches
  bool skip_corrupt = false;  // skip and count undecodable images instead of failing
  Augment augment;
  Normalization normalization;
  // Batches with numbers below `before` (and not below an earlier stage's) are scaled down to `shape`.
  struct Stage {
    uint64_t before;
    InputShape shape;
  };
  std::vector<Stage> stages;
};

class Loader {
 public:
  // Invalid: inconsistent sizes; the error gives the numbers.
  static Result<std::unique_ptr<Loader>> create(DatasetPtr dataset, const LoaderOptions& options);
  ~Loader();

  uint64_t batches_per_epoch() const;
  // Returns batch `number`; valid until the next call. The caller helps if it is not ready. Corrupt: names
  // the image.
  Result<Batch> get(uint64_t number);
  // Begins to prepare the batch that will probably be requested next.
  void hint(uint64_t number);
  double wait_seconds() const;  // total wait in get()
  uint64_t skipped() const;     // corrupt images skipped

 private:
  struct Impl;
  explicit Loader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The order of one epoch: a permutation of 0..n-1 by (seed, epoch).
std::vector<uint32_t> epoch_order(size_t n, uint64_t seed, uint64_t epoch);

}  // namespace radl::engine::data
