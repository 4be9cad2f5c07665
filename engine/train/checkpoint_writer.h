// Writes checkpoints in a thread of its own, beside the training, and knows what that costs it.
#pragma once

#include <atomic>
#include <thread>

#include "engine/train/checkpoint_keeper.h"

namespace radl::engine {

class CheckpointWriter {
 public:
  // Both outlive this.
  CheckpointWriter(CheckpointKeeper& keeper, Progress& progress) : keeper_(keeper), progress_(progress) {}
  ~CheckpointWriter();  // waits for the one that is being written
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Begins to write; only after settle(). `stall`: seconds that the training has waited for it so far.
  void write(Checkpoint checkpoint, double stall);
  // Waits until it is on the disk; of the last one.
  Status settle();
  // Whether another one would take no more than `share` of the training's time; `since`: seconds since the
  // last. 0: it may take what it wants.
  bool affordable(double share, double since) const;

  // Of all of them; after settle().
  double stall_seconds() const { return stall_seconds_; }
  double writing_seconds() const { return writing_seconds_; }

 private:
  CheckpointKeeper& keeper_;
  Progress& progress_;
  double stall_seconds_ = 0, writing_seconds_ = 0;
  std::atomic<bool> writing_ = false;
  std::atomic<double> last_cost_ = 0;  // seconds that the last checkpoint took from the training
  Status saved_;
  std::thread thread_;
};

}  // namespace radl::engine
