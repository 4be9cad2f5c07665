// Names and integrity of checkpoint files. Shared by the engine, which writes them, and by code that stores
// copies elsewhere. docs/training.md, "Checkpoints", describes their content.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/status.h"

namespace radl {

inline constexpr std::string_view kCheckpointMagic = "RADL checkpoint 1\n";
inline constexpr size_t kCheckpointDigest = 64;  // hex digits of the SHA-256 at the end of the file
inline constexpr std::string_view kCheckpointRun =
    "run";  // a file beside the checkpoints that holds the number of the last run

// "step-00000390.ckpt" for the first run, "run-0002-step-00000390.ckpt" for later ones. A later checkpoint
// compares greater.
struct CheckpointName {
  uint64_t run = 1, step = 0;
  std::string text() const;
  auto operator<=>(const CheckpointName&) const = default;
};
std::optional<CheckpointName> parse_checkpoint_name(std::string_view name);

// Content of the file kCheckpointRun: "2\n".
std::string checkpoint_run_text(uint64_t run);
std::optional<uint64_t> parse_checkpoint_run(std::string_view text);

// Corrupt: the file does not begin and end like a complete checkpoint. Reads the file in chunks.
Status check_checkpoint_file(const std::string& path);

}  // namespace radl
