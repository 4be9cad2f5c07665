#include "engine/train/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "common/checkpoint_file.h"
#include "common/digest.h"
#include "common/files.h"

namespace radl::engine {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr size_t kLargestHeader = 64 << 20;

// A checkpoint's file, by what its name says.
struct Stored : CheckpointName {
  std::string path;
};

// Oldest first.
std::vector<Stored> stored_in(const std::string& directory) {
  std::vector<Stored> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    if (auto name = parse_checkpoint_name(entry.path().filename().string()))
      out.push_back({*name, entry.path()});
  }
  std::sort(out.begin(), out.end(), [](const CheckpointName& a, const CheckpointName& b) { return a < b; });
  return out;
}

// The number of the run that checkpoints are of now.
Result<uint64_t> last_run(const std::string& directory) {
  uint64_t run = 1;
  for (const Stored& stored : stored_in(directory)) run = std::max(run, stored.run);
  const std::string path = fmt::format("{}/{}", directory, kCheckpointRun);
  Result<std::string> text = read_file(path, 64);
  if (text.status().code() == Code::NotFound) return run;
  if (!text) return std::move(text).status();
  std::optional<uint64_t> begun = parse_checkpoint_run(*text);
  if (!begun) return Status(Code::Corrupt, path + ": does not hold the number of a run");
  return std::max(run, *begun);
}

std::string_view bytes_of(const std::vector<float>& v) {
  return {reinterpret_cast<const char*>(v.data()), v.size() * 4};
}

std::vector<std::span<const float>> arrays_of(const Checkpoint& c) {
  std::vector<std::span<const float>> out = {c.weights, c.statistics, c.average};
  out.insert(out.end(), c.optimizer.begin(), c.optimizer.end());
  return out;
}

std::string header_of(const Checkpoint& c) {
  Json h = {{"step", c.done()},
            {"next", c.next},
            {"again", c.again},
            {"version", c.version},
            {"settings", c.settings},
            {"model", c.model},
            {"numbers", c.numbers},
            {"weights", c.weights.size()},
            {"statistics", c.statistics.size()},
            {"average", c.average.size()},
            {"averaged", c.averaged},
            {"optimizer_steps", c.optimizer_steps},
            {"optimizer", c.optimizer.size()}};
  return h.dump();
}

Status check_finite(const Checkpoint& c) {
  for (std::span<const float> part : arrays_of(c)) {
    for (float v : part) {
      if (!std::isfinite(v))
        return invalid(
            "training diverged: the weights hold a number that is not finite; no checkpoint is made of them");
    }
  }
  return {};
}

// Writes pieces, hashing them on the way.
Status write_pieces(const Checkpoint& c, int file, const std::string& path, Disk& disk) {
  Sha256 hash;
  Status status;
  auto put = [&](std::string_view bytes) {
    hash.update(bytes);
    if (status.ok() && !bytes.empty()) status = disk.write(file, bytes, path);
  };
  std::string header = header_of(c);
  uint64_t length = header.size();
  put(std::string(kCheckpointMagic) + std::string(reinterpret_cast<const char*>(&length), 8) + header);
  put(bytes_of(c.weights));
  put(bytes_of(c.statistics));
  put(bytes_of(c.average));
  for (const auto& v : c.optimizer) put(bytes_of(v));
  if (!status.ok()) return status;
  return disk.write(file, hash.finish_hex(), path);
}

Status write_file(const Checkpoint& c, const std::string& path, Disk& disk) {
  Result<int> file = disk.create(path);
  if (!file) return std::move(file).status();
  Status status = write_pieces(c, *file, path, disk);
  if (status.ok()) status = disk.sync(*file, path);
  Status closed = disk.close(*file, path);
  return status.ok() ? closed : status;
}

Status corrupt(const std::string& path, std::string_view what) {
  return {Code::Corrupt, fmt::format("{}: {}", path, what)};
}

std::string_view take(std::string_view& rest, size_t size) {
  std::string_view out = rest.substr(0, size);
  rest.remove_prefix(size);
  return out;
}

Status read_header(const std::string& path, std::string_view text, std::string_view rest, Checkpoint& c) {
  try {
    nlohmann::json h = nlohmann::json::parse(text);
    const uint64_t step = h.at("step");
    h.at("next").get_to(c.next);
    h.at("again").get_to(c.again);
    h.at("version").get_to(c.version);
    h.at("settings").get_to(c.settings);
    h.at("model").get_to(c.model);
    h.at("numbers").get_to(c.numbers);
    h.at("averaged").get_to(c.averaged);
    h.at("optimizer_steps").get_to(c.optimizer_steps);
    if (c.again.size() > c.next || c.done() != step) return corrupt(path, "its batches do not add up");
    std::vector<std::pair<std::vector<float>*, uint64_t>> parts = {
        {&c.weights, h.at("weights").get<uint64_t>()},
        {&c.statistics, h.at("statistics").get<uint64_t>()},
        {&c.average, h.at("average").get<uint64_t>()}};
    uint64_t vectors = h.at("optimizer").get<uint64_t>();
    if (vectors > 16) return corrupt(path, "its header contradicts itself");
    c.optimizer.resize(vectors);
    for (auto& v : c.optimizer) parts.emplace_back(&v, parts[0].second);
    for (auto& [out, size] : parts) {
      if (size > rest.size() / 4) return corrupt(path, "it is shorter than its header says");
      out->resize(size);
      std::string_view bytes = take(rest, size * 4);
      if (size > 0) std::memcpy(out->data(), bytes.data(), bytes.size());
    }
  } catch (const nlohmann::json::exception& error) {
    return corrupt(path, fmt::format("its header is damaged: {}", error.what()));
  }
  return rest.empty() ? Status() : corrupt(path, "it is longer than its header says");
}

}  // namespace

Status Disk::make_directory(const std::string& path) { return make_directories(path); }

Result<int> Disk::create(const std::string& path) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return errno_status(errno, path);
  return fd;
}

Status Disk::write(int file, std::string_view bytes, const std::string& path) {
  return write_all(file, bytes, path);
}

Status Disk::sync(int file, const std::string& path) {
  return ::fsync(file) == 0 ? Status() : errno_status(errno, path);
}
Status Disk::close(int file, const std::string& path) {
  return ::close(file) == 0 ? Status() : errno_status(errno, path);
}

Status Disk::rename(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str()) == 0 ? Status() : errno_status(errno, to);
}

Status Disk::sync_directory(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno_status(errno, path);
  Status status = ::fsync(fd) == 0 ? Status() : errno_status(errno, path);
  ::close(fd);
  return status;
}

Status Disk::remove(const std::string& path) {
  return ::unlink(path.c_str()) == 0 || errno == ENOENT ? Status() : errno_status(errno, path);
}

std::vector<std::string> list_checkpoints(const std::string& directory) {
  std::vector<std::string> out;
  for (const Stored& stored : stored_in(directory)) out.push_back(stored.path);
  return out;
}

Result<size_t> begin_anew(const std::string& directory) {
  Result<uint64_t> run = last_run(directory);
  if (!run) return std::move(run).status();
  std::vector<Stored> all = stored_in(directory);
  const auto superseded =
      std::count_if(all.begin(), all.end(), [&](const Stored& stored) { return stored.run == *run; });
  if (superseded == 0) return size_t{0};
  if (Status s =
          write_file_atomic(fmt::format("{}/{}", directory, kCheckpointRun), checkpoint_run_text(*run + 1));
      !s.ok())
    return s;
  return static_cast<size_t>(superseded);
}

std::string make_room(const std::string& directory, Disk& disk, size_t& removed) {
  std::vector<std::string> all = list_checkpoints(directory);
  removed = 0;
  auto kept = std::find_if(all.rbegin(), all.rend(),
                           [](const std::string& path) { return load_checkpoint(path).ok(); });
  if (kept == all.rend()) return "";
  for (const std::string& path : all) {
    if (path != *kept && disk.remove(path).ok()) ++removed;
  }
  return *kept;
}

Result<std::string> save_checkpoint(const std::string& directory, const Checkpoint& c, int keep, Disk& disk) {
  if (Status bad = check_finite(c); !bad.ok()) return bad;
  if (Status made = disk.make_directory(directory); !made.ok()) return made;
  Result<uint64_t> run = last_run(directory);
  if (!run) return std::move(run).status();
  std::string path = directory + "/" + CheckpointName{*run, c.done()}.text(), temporary = path + ".part";
  Status status = write_file(c, temporary, disk);
  if (status.ok()) status = disk.rename(temporary, path);
  if (status.ok()) status = disk.sync_directory(directory);
  if (!status.ok()) {
    (void)disk.remove(temporary);
    return std::move(status).at("checkpoint");
  }
  std::vector<std::string> all = list_checkpoints(directory);
  for (size_t i = 0; i + static_cast<size_t>(keep) < all.size(); ++i) {
    if (all[i] == path) continue;
    if (Status removed = disk.remove(all[i]); !removed.ok()) return removed;
  }
  return path;
}

Result<Checkpoint> load_checkpoint(const std::string& path) {
  Result<std::string> content = read_file(path, size_t{1} << 38);
  if (!content) return std::move(content).status();
  std::string_view rest = *content;
  if (rest.size() < kCheckpointMagic.size() + 8 + kCheckpointDigest)
    return corrupt(path, "it is too short for a checkpoint");
  std::string_view digest = rest.substr(rest.size() - kCheckpointDigest);
  rest.remove_suffix(kCheckpointDigest);
  if (rest.substr(0, kCheckpointMagic.size()) != kCheckpointMagic) {
    bool newer = rest.substr(0, 16) == kCheckpointMagic.substr(0, 16);
    return newer ? Status(Code::Unsupported, path + ": a checkpoint of another version of this program")
                 : corrupt(path, "it is not a checkpoint");
  }
  if (sha256_hex(rest) != digest) return corrupt(path, "its checksum does not match its content");
  take(rest, kCheckpointMagic.size());
  uint64_t length;
  std::memcpy(&length, take(rest, 8).data(), 8);
  if (length > kLargestHeader || length > rest.size())
    return corrupt(path, "its header is longer than the file");
  std::string_view header = take(rest, length);
  Checkpoint c;
  if (Status bad = read_header(path, header, rest, c); !bad.ok()) return bad;
  return c;
}

Result<std::optional<Checkpoint>> load_latest(const std::string& directory,
                                              const std::function<void(const Status&)>& skipped) {
  Result<uint64_t> run = last_run(directory);
  if (!run) return std::move(run).status();
  std::vector<Stored> all = stored_in(directory);
  for (auto it = all.rbegin(); it != all.rend() && it->run == *run; ++it) {
    Result<Checkpoint> c = load_checkpoint(it->path);
    if (c.ok()) return std::optional<Checkpoint>(std::move(*c));
    if (c.status().code() != Code::Corrupt && c.status().code() != Code::NotFound)
      return std::move(c).status();
    if (skipped) skipped(c.status());
  }
  return std::optional<Checkpoint>();
}

}  // namespace radl::engine
