// The training batches of a run by number, prepared by threads of their own.
//
// Batch t holds the pictures batch_size * (t % per_epoch) ... of epoch t / per_epoch, in that epoch's order,
// augmented by (seed, epoch, picture): the same bytes whoever asks, whenever, with however many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/train/setup.h"

namespace radl::engine {

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Batch `ticket`; valid until the next call. Corrupt names the picture.
  virtual Result<Batch> get(uint64_t ticket) = 0;
  // Begins to prepare a batch that will probably be asked for next.
  virtual void hint(uint64_t ticket) = 0;
  virtual double wait_seconds() const = 0;  // that get() stood still
  virtual uint64_t skipped() const = 0;     // corrupt pictures that were left out
};

std::unique_ptr<BatchSource> make_batches(const Setup& setup, const Job& job);

}  // namespace radl::engine
