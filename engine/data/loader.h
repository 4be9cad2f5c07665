// Training batches by number, prepared ahead of the training loop by threads of their own.
//
// Batch t is the (t mod n)-th of epoch t / n, n = size / batch_size rounded down (an epoch's last images
// that do not fill a batch are left for the next epoch's other order). Which images it holds, their order
// and their augmentation depend on seed, epoch and image and on nothing else: the same bytes whoever asks,
// whenever, with however many threads. So any member of a cluster can be given any batch, and a resumed run
// goes on where it was.
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
  int threads = 1;            // that prepare batches
  bool skip_corrupt = false;  // leave images that cannot be decoded out (counted) instead of failing
  Augment augment;
  Normalization normalization;
  // Batches numbered below `before` (and not below an earlier stage's) are scaled down to `shape`.
  struct Stage {
    uint64_t before;
    InputShape shape;
  };
  std::vector<Stage> stages;
};

class Loader {
 public:
  // Invalid when sizes do not fit (with the numbers).
  static Result<std::unique_ptr<Loader>> create(DatasetPtr dataset, const LoaderOptions& options);
  ~Loader();

  uint64_t batches_per_epoch() const;
  // Batch `number`; valid until the next call. The caller works along when it is not ready. Corrupt names the
  // image.
  Result<Batch> get(uint64_t number);
  // Begins to prepare a batch that will probably be asked for next.
  void hint(uint64_t number);
  double wait_seconds() const;  // that get() took
  uint64_t skipped() const;     // corrupt images left out

 private:
  struct Impl;
  explicit Loader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The order of one epoch: a permutation of 0..n-1 by (seed, epoch).
std::vector<uint32_t> epoch_order(size_t n, uint64_t seed, uint64_t epoch);

}  // namespace radl::engine::data
