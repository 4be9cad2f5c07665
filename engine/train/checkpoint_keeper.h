// The checkpoints of a running job. Writes them while disk space lasts; the model has priority.
#pragma once

#include <string>

#include "engine/train/checkpoint.h"
#include "engine/train/progress.h"

namespace radl::engine {

class CheckpointKeeper {
 public:
  // `directory`: "" to write none; `keep`: how many to keep.
  CheckpointKeeper(std::string directory, int keep, Progress& progress)
      : directory_(std::move(directory)), keep_(keep), progress_(progress) {}

  // Leaves existing checkpoints to the previous run, with a warning.
  Status begin_anew();
  // Returns the path. Quota, after a warning: the disk is full even after removing all but the last complete
  // one; the message names the one kept.
  Result<std::string> write(const Checkpoint& checkpoint);
  // For a full disk: removes all but the last complete one, with a warning. False if there are no others.
  bool make_room();
  // "FILE is kept", or a message that there is none to resume from.
  std::string kept() const;

 private:
  void warn(const std::string& text);

  std::string directory_;
  int keep_;
  Progress& progress_;
};

}  // namespace radl::engine
