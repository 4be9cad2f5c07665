// The checkpoints of a running job: written when there is room for them, and given up before the model is.
#pragma once

#include <string>

#include "engine/train/checkpoint.h"
#include "engine/train/progress.h"

namespace radl::engine {

class CheckpointKeeper {
 public:
  // `directory`: "" where none are written; `keep`: how many.
  CheckpointKeeper(std::string directory, int keep, Progress& progress)
      : directory_(std::move(directory)), keep_(keep), progress_(progress) {}

  // Leaves the checkpoints that are there to the run before, and says so in a warning.
  Status begin_anew();
  // Its path. Quota, after a warning: the disk is full, although all but the last whole one have made way;
  // the text says which is kept.
  Result<std::string> write(const Checkpoint& checkpoint);
  // For a full disk: all but the last whole one make way, with a warning. False when there are no others.
  bool make_room();
  // "FILE is kept", or that there is none to go on from.
  std::string kept() const;

 private:
  void warn(const std::string& text);

  std::string directory_;
  int keep_;
  Progress& progress_;
};

}  // namespace radl::engine
