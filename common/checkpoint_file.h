// What the files of checkpoints are called, and whether one is whole: for the engine, which writes them, and
// for whoever keeps them elsewhere. What is in them: docs/training.md, "Checkpoints".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/status.h"

namespace radl {

inline constexpr std::string_view kCheckpointMagic = "RADL checkpoint 1\n";
inline constexpr size_t kCheckpointDigest = 64;  // hex digits of SHA-256 at the end of the file
inline constexpr std::string_view kCheckpointRun =
    "run";  // the file beside them with the number of the last run

// "step-00000390.ckpt" of the first run, "run-0002-step-00000390.ckpt" of later ones. Later ones compare
// greater.
struct CheckpointName {
  uint64_t run = 1, step = 0;
  std::string text() const;
  auto operator<=>(const CheckpointName&) const = default;
};
std::optional<CheckpointName> parse_checkpoint_name(std::string_view name);

// Of the file kCheckpointRun: "2\n".
std::string checkpoint_run_text(uint64_t run);
std::optional<uint64_t> parse_checkpoint_run(std::string_view text);

// Corrupt: it does not begin and end as a whole checkpoint does. Reads it in pieces.
Status check_checkpoint_file(const std::string& path);

}  // namespace radl
