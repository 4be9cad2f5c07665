// Checkpoints: everything a run needs to continue as if it had not been interrupted, in one file.
//
// A file "step-00000390.ckpt" holds a magic line, a JSON header, the numbers and a SHA-256 of all of it. It
// is written under another name, synced and renamed: a kill at any write leaves the existing checkpoints
// intact. A file with its final name is complete. Afterwards, all but the last `keep` are removed.
//
// A run that starts over where checkpoints exist is run 2, and so on: a file "run" records that first, and
// its files are named "run-0002-step-00000390.ckpt". Training resumes only from checkpoints of the last run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "engine/optim/training_state.h"

namespace radl::engine {

struct Checkpoint : TrainingState {
  std::string settings;  // resume_settings() of train/job.h
  std::string model;     // canonical text of the model
  std::string numbers;   // JSON state of the report: curves, best accuracy, seconds
};

// File operations for writing. Tests use one that stops at the n-th.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual Status make_directory(const std::string& path);
  virtual Result<int> create(const std::string& path);
  virtual Status write(int file, std::string_view bytes, const std::string& path);
  virtual Status sync(int file, const std::string& path);
  virtual Status close(int file, const std::string& path);
  virtual Status rename(const std::string& from, const std::string& to);
  virtual Status sync_directory(const std::string& path);
  virtual Status remove(const std::string& path);
};

// Writes a checkpoint and removes old ones. Returns its path. Invalid: it contains a non-finite number.
Result<std::string> save_checkpoint(const std::string& directory, const Checkpoint& checkpoint, int keep,
                                    Disk& disk);

// Makes the next run start over: the existing checkpoints are no longer resumed from. Returns their number;
// writes nothing if it is 0.
Result<size_t> begin_anew(const std::string& directory);

// For a full disk: removes all checkpoints but the newest complete one, and returns its path. If there is
// none, removes nothing and returns "". `removed`: number of removed files.
std::string make_room(const std::string& directory, Disk& disk, size_t& removed);

// Corrupt: explains the inconsistency.
Result<Checkpoint> load_checkpoint(const std::string& path);

// The newest complete checkpoint of the last run; nullopt if there is none. Skips damaged ones and reports
// them to `skipped`.
Result<std::optional<Checkpoint>> load_latest(const std::string& directory,
                                              const std::function<void(const Status&)>& skipped = {});

// The files of all runs' checkpoints, oldest first.
std::vector<std::string> list_checkpoints(const std::string& directory);

}  // namespace radl::engine
