// Checkpoints: everything a run needs to go on as if it had not been interrupted, in one file.
//
// A file "step-00000390.ckpt" holds a line of magic, a JSON header, the numbers and a SHA-256 over all of it.
// It is written under another name, synced and renamed: a kill at any write leaves the checkpoints that were
// there, and a file under its final name is whole. Older ones than the last `keep` are removed afterwards.
//
// A run that begins anew where checkpoints are is run 2, and so on: a file "run" says so before its first
// step, and its files are named "run-0002-step-00000390.ckpt". Only those of the last run are gone on from.
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
  std::string numbers;   // JSON of what the report needs to go on: curves, best accuracy, seconds
};

// The file operations that writing needs. Tests put one in that stops at the n-th.
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

// Writes it and removes old ones; returns the file's path. Invalid when a number in it is not finite.
Result<std::string> save_checkpoint(const std::string& directory, const Checkpoint& checkpoint, int keep,
                                    Disk& disk);

// The next run begins anew: the checkpoints in the directory are no longer gone on from. Returns how many
// they are; with none it writes nothing.
Result<size_t> begin_anew(const std::string& directory);

// For a full disk: removes all checkpoints but the newest whole one, and returns its path; "" when there is
// none, and then nothing is removed. `removed`: how many were.
std::string make_room(const std::string& directory, Disk& disk, size_t& removed);

// Corrupt says what does not fit.
Result<Checkpoint> load_checkpoint(const std::string& path);

// The last run's newest checkpoint that is whole; nothing when there is none. Damaged ones are passed over
// and told to `skipped`.
Result<std::optional<Checkpoint>> load_latest(const std::string& directory,
                                              const std::function<void(const Status&)>& skipped = {});

// Their files, those of all runs, oldest first.
std::vector<std::string> list_checkpoints(const std::string& directory);

}  // namespace radl::engine
