#include "engine/train/checkpoint_keeper.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace radl::engine {

void CheckpointKeeper::warn(const std::string& text) { progress_.emit("warning", {{"message", text}}); }

Status CheckpointKeeper::begin_anew() {
  Result<size_t> earlier = engine::begin_anew(directory_);
  if (!earlier) return std::move(earlier).status();
  if (*earlier > 0) {
    warn(fmt::format(
        "{}: starts over, and replaces the {} checkpoints of the run before with its own (checkpoint.keep)",
        directory_, *earlier));
  }
  return {};
}

bool CheckpointKeeper::make_room() {
  if (directory_.empty()) return false;
  Disk disk;
  size_t removed = 0;
  const std::string kept = engine::make_room(directory_, disk, removed);
  if (removed > 0)
    warn(fmt::format("the disk is full: {} older checkpoints were removed, {} is kept", removed, kept));
  return removed > 0;
}

std::string CheckpointKeeper::kept() const {
  const std::vector<std::string> all =
      directory_.empty() ? std::vector<std::string>() : list_checkpoints(directory_);
  return all.empty() ? "there is no checkpoint to resume from" : all.back() + " is kept";
}

Result<std::string> CheckpointKeeper::write(const Checkpoint& checkpoint) {
  Disk disk;
  Result<std::string> path = save_checkpoint(directory_, checkpoint, keep_, disk);
  if (path.status().code() == Code::Quota && make_room())
    path = save_checkpoint(directory_, checkpoint, keep_, disk);
  if (path.status().code() != Code::Quota) return path;
  const std::string why =
      fmt::format("{}; step {} could not be saved, {}", path.status().message(), checkpoint.done(), kept());
  warn(why);
  return Status(Code::Quota, why);
}

}  // namespace radl::engine
