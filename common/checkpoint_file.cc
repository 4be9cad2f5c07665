#include "common/checkpoint_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <vector>

#include "common/digest.h"
#include "common/files.h"

namespace radl {
namespace {

// Takes a number off the front.
std::optional<uint64_t> leading_number(std::string_view& text) {
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::string CheckpointName::text() const {
  std::string name = fmt::format("step-{:08}.ckpt", step);
  return run == 1 ? name : fmt::format("run-{:04}-{}", run, name);
}

std::optional<CheckpointName> parse_checkpoint_name(std::string_view name) {
  CheckpointName out;
  if (take_prefix(name, "run-")) {
    std::optional<uint64_t> run = leading_number(name);
    if (!run || !take_prefix(name, "-")) return std::nullopt;
    out.run = *run;
  }
  if (!take_prefix(name, "step-")) return std::nullopt;
  std::optional<uint64_t> step = leading_number(name);
  if (!step || name != ".ckpt") return std::nullopt;
  out.step = *step;
  return out;
}

std::string checkpoint_run_text(uint64_t run) { return fmt::format("{}\n", run); }

std::optional<uint64_t> parse_checkpoint_run(std::string_view text) {
  std::optional<uint64_t> run = leading_number(text);
  return run && text == "\n" ? run : std::nullopt;
}

Status check_checkpoint_file(const std::string& path) {
  auto corrupt = [&](const char* what) { return Status(Code::Corrupt, path + ": " + what); };
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return errno_status(errno, path);
  const auto size = static_cast<uint64_t>(in.tellg());
  if (size < kCheckpointMagic.size() + 8 + kCheckpointDigest)
    return corrupt("it is too short for a checkpoint");
  in.seekg(0);
  Sha256 hash;
  std::vector<char> piece(size_t{1} << 20);
  for (uint64_t left = size - kCheckpointDigest; left > 0;) {
    const auto now = static_cast<std::streamsize>(std::min<uint64_t>(left, piece.size()));
    if (!in.read(piece.data(), now)) return errno_status(errno, path);
    const std::string_view bytes(piece.data(), static_cast<size_t>(now));
    if (left == size - kCheckpointDigest && !bytes.starts_with(kCheckpointMagic))
      return corrupt("it is not a checkpoint of this version of the program");
    hash.update(bytes);
    left -= static_cast<uint64_t>(now);
  }
  std::string digest(kCheckpointDigest, '\0');
  if (!in.read(digest.data(), static_cast<std::streamsize>(digest.size()))) return errno_status(errno, path);
  return hash.finish_hex() == digest ? Status() : corrupt("its checksum does not match its content");
}

}  // namespace radl
