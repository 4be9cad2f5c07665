#include "engine/data/rates.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "common/clock.h"
#include "common/fd.h"
#include "common/files.h"
#include "common/http/url.h"
#include "common/human.h"
#include "common/transfer/source.h"
#include "engine/data/place.h"
#include "engine/data/random.h"

namespace radl::engine::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPiece = size_t{4} << 20;
constexpr uint64_t kSyncedBytes = uint64_t{64}
                                  << 20;  // at a time, so that the end need not wait for all of it
constexpr uint64_t kLeastBytes = uint64_t{16} << 20, kMostBytes = uint64_t{4} << 30;
constexpr int kShareOfRoom = 8;  // at most an eighth of what is free

constexpr uint64_t kSmall = uint64_t{8} << 20;  // smaller files come side by side
constexpr size_t kAtOnce = 512;

// An unnamed file, which disappears with the process.
Result<int> nameless_file(const std::string& folder) {
  int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) return errno_status(errno, folder);
  std::string name = folder + "/.radl-rate-XXXXXX";
  file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) return errno_status(errno, folder);
  ::unlink(name.c_str());
  return file;
}

// Nothing that a disk or a file system could make smaller.
std::vector<char> random_piece() {
  std::vector<char> piece(kPiece);
  KeyedRandom random(4, 5, 6);
  for (char& byte : piece) byte = static_cast<char>(random.below(256));
  return piece;
}

Result<uint64_t> room_for(const std::string& folder) {
  struct statvfs room {};
  if (::statvfs(folder.c_str(), &room) != 0) return errno_status(errno, folder);
  const uint64_t free = uint64_t{room.f_bavail} * room.f_frsize;
  if (free / kShareOfRoom < kLeastBytes)
    return Status(Code::Quota,
                  fmt::format("{}: {} are free; its disk is measured where {} are", folder,
                              bytes_text(double(free)), bytes_text(double(kLeastBytes * kShareOfRoom))));
  return std::min(free / kShareOfRoom, kMostBytes);
}

Status read_back(int file, uint64_t bytes, std::vector<char>& piece, const std::string& folder,
                 const Stop& stop) {
  for (uint64_t at = 0; at < bytes;) {
    if (Status go_on = stop.check(); !go_on.ok()) return go_on;
    const ssize_t got = ::pread(file, piece.data(), piece.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno_status(errno, folder);
    if (got == 0) return Status(Code::Corrupt, folder + ": less comes back from the disk than was written");
    at += static_cast<uint64_t>(got);
  }
  return {};
}

// A folder that is gone with the object.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "radl-rate-XXXXXX").string();
    if (error)
      return Status(Code::NotFound, "there is no folder for temporary files").with_hint("set TMPDIR");
    if (::mkdtemp(name.data()) == nullptr) return errno_status(errno, name);
    return ScratchFolder(std::move(name));
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

struct Fetching {
  http::Client& http;
  const std::string& uri;
  std::string folder;
  Stop stop;
  uint64_t bytes = 0;
};

// The bytes of a file that the time was too short for count as well.
Status fetch_large(Fetching& fetching, const std::string& name) {
  uint64_t came = 0;
  transfer::Download what;
  what.path = fetching.folder + "/large";
  what.progress = [&](uint64_t done, uint64_t) { came = done; };
  what.stop = fetching.stop;
  const std::string uri =
      name.empty() ? fetching.uri : fetching.uri + (fetching.uri.ends_with('/') ? "" : "/") + name;
  Status fetched = transfer::fetch_file(fetching.http, uri, what);
  std::error_code ignored;
  if (fetched.ok()) came = std::max<uint64_t>(came, fs::file_size(what.path, ignored));
  fetching.bytes += came;
  fs::remove(what.path, ignored);
  return fetched;
}

uint64_t bytes_below(const std::string& folder) {
  uint64_t bytes = 0;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored))
    // Not the note of their versions.
    if (!entry.path().filename().string().starts_with('.') && entry.is_regular_file(ignored))
      bytes += entry.file_size(ignored);
  return bytes;
}

Status fetch_small(Fetching& fetching, const std::vector<std::string>& names) {
  const std::string folder = fetching.folder + "/small";
  Status fetched = transfer::fetch_folder(fetching.http, fetching.uri, folder, names, fetching.stop);
  fetching.bytes += bytes_below(folder);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return fetched;
}

Status fetch_listed(Fetching& fetching, const std::vector<transfer::SourceFile>& files) {
  std::vector<std::string> small;
  auto take_small = [&] {
    Status fetched = small.empty() ? Status() : fetch_small(fetching, small);
    small.clear();
    return fetched;
  };
  for (const transfer::SourceFile& file : files) {
    if (file.size < kSmall) {
      small.push_back(file.name);
      if (small.size() < kAtOnce) continue;
      if (Status fetched = take_small(); !fetched.ok()) return fetched;
    } else if (Status fetched = fetch_large(fetching, file.name); !fetched.ok()) {
      return fetched;
    }
  }
  return take_small();
}

}  // namespace

Result<DiskRates> measure_disk(const std::string& folder, double seconds, const Stop& stop) {
  auto most = room_for(folder);
  if (!most.ok()) return std::move(most).status();
  auto opened = nameless_file(folder);
  if (!opened.ok()) return std::move(opened).status();
  const Fd file(*opened);
  std::vector<char> piece = random_piece();
  DiskRates rates;
  const auto begin = SteadyClock::now();
  uint64_t synced = 0;
  // Half of the time, as reading takes about as long.
  while (rates.bytes < kLeastBytes || (rates.bytes + kPiece <= *most && seconds_since(begin) < seconds / 2)) {
    if (Status go_on = stop.check(); !go_on.ok()) return go_on;
    if (Status wrote = write_all(file.get(), {piece.data(), piece.size()}, folder); !wrote.ok()) return wrote;
    rates.bytes += kPiece;
    if (rates.bytes - synced < kSyncedBytes) continue;
    if (::fdatasync(file.get()) != 0) return errno_status(errno, folder);
    synced = rates.bytes;
  }
  if (::fdatasync(file.get()) != 0) return errno_status(errno, folder);
  rates.write_per_second = static_cast<double>(rates.bytes) / std::max(seconds_since(begin), 1e-6);
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  const auto reading = SteadyClock::now();
  if (Status read = read_back(file.get(), rates.bytes, piece, folder, stop); !read.ok()) return read;
  rates.read_per_second = static_cast<double>(rates.bytes) / std::max(seconds_since(reading), 1e-6);
  return rates;
}

Result<SourceRate> measure_source(http::Client& http, const std::string& uri, double seconds,
                                  const Stop& stop) {
  SourceRate rate;
  std::vector<transfer::SourceFile> files;
  const bool one = is_one_file(uri), listed = !one && has_listing(uri);
  if (listed) {
    auto found = transfer::list_files(http, uri, stop);
    if (!found.ok()) return std::move(found).status();
    files = std::move(*found);
    for (const transfer::SourceFile& file : files) rate.all += file.size;
    if (files.empty()) return not_found(http::printable_url(uri) + ": there are no files");
  }
  auto scratch = ScratchFolder::make();
  if (!scratch.ok()) return std::move(scratch).status();
  const auto begin = SteadyClock::now();
  const auto time = std::chrono::milliseconds(static_cast<long long>(1000 * seconds));
  Fetching fetching{http, uri, scratch->path(), stop.within(time)};
  const Status fetched = one      ? fetch_large(fetching, "")
                         : listed ? fetch_listed(fetching, files)
                                  : fetch_small(fetching, file_names(""));
  if (fetched.ok() && !listed) rate.all = fetching.bytes;
  if (Status go_on = stop.check(); !go_on.ok()) return go_on;
  // That the time is over is how it is meant to end.
  if (!fetched.ok() && fetched.code() != Code::Timeout) return fetched;
  rate.bytes = fetching.bytes;
  rate.per_second = static_cast<double>(rate.bytes) / std::max(seconds_since(begin), 1e-6);
  if (rate.bytes == 0)
    return Status(Code::Timeout,
                  fmt::format("{}: nothing came within {:g} s", http::printable_url(uri), seconds));
  return rate;
}

}  // namespace radl::engine::data
