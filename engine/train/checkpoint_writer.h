// Writes checkpoints on a background thread, and measures their cost to training.
#pragma once

#include <atomic>
#include <thread>

#include "engine/train/checkpoint_keeper.h"

namespace radl::engine {

class CheckpointWriter {
 public:
  // Both must outlive this object.
  CheckpointWriter(CheckpointKeeper& keeper, Progress& progress) : keeper_(keeper), progress_(progress) {}
  ~CheckpointWriter();  // waits for a checkpoint in progress
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Starts to write; call settle() first. `stall`: seconds that training has waited for it so far.
  void write(Checkpoint checkpoint, double stall);
  // Waits until it is on disk. Returns the status of the last one.
  Status settle();
  // True if another checkpoint would take at most `share` of the training's time; `since`: seconds since the
  // last one. A `share` of 0 means no limit.
  bool affordable(double share, double since) const;

  // Totals of all checkpoints; valid after settle().
  double stall_seconds() const { return stall_seconds_; }
  double writing_seconds() const { return writing_seconds_; }

 private:
  CheckpointKeeper& keeper_;
  Progress& progress_;
  double stall_seconds_ = 0, writing_seconds_ = 0;
  std::atomic<bool> writing_ = false;
  std::atomic<double> last_cost_ = 0;  // seconds of training that the last checkpoint cost
  Status saved_;
  std::thread thread_;
};

}  // namespace radl::engine
