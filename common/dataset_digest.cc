#include "common/dataset_digest.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include "common/digest.h"
#include "common/files.h"

namespace radl {
namespace {

constexpr size_t kLargestNotes = size_t{1} << 30;
constexpr int64_t kSettled = 2'000'000'000;  // nanoseconds: coarser than any file system's clock

int64_t nanoseconds(const timespec& t) { return int64_t(t.tv_sec) * 1'000'000'000 + t.tv_nsec; }

// Changes whenever the content does, but for a second write within the clock's tick.
std::string stamp_of(const struct stat& info) {
  return std::to_string(info.st_size) + " " + std::to_string(nanoseconds(info.st_mtim)) + " " +
         std::to_string(nanoseconds(info.st_ctim)) + " " + std::to_string(info.st_dev) + " " +
         std::to_string(info.st_ino);
}

// Lines "SHA256 STAMP NAME".
class Notes {
 public:
  Notes(const std::string& dataset, const std::string& cache) {
    std::error_code error;
    const std::string absolute = std::filesystem::absolute(dataset, error).lexically_normal().string();
    if (cache.empty() || error) return;
    path_ = cache + "/digests/" + sha256_hex(absolute);
    auto text = read_file(path_, kLargestNotes);
    if (!text.ok()) return;
    text_ = std::move(*text);
    std::string_view rest = text_;
    for (size_t end; (end = rest.find('\n')) != rest.npos; rest.remove_prefix(end + 1)) {
      std::string_view line = rest.substr(0, end);
      size_t at = 0;
      for (int field = 0; field < 6 && at != line.npos; ++field) at = line.find(' ', at + 1);
      if (at == line.npos || line.size() < 66) continue;
      known_[line.substr(at + 1)] = {line.substr(0, 64), line.substr(65, at - 65)};
    }
  }
  std::string find(const std::string& name, const std::string& stamp) const {
    const auto found = known_.find(name);
    return found != known_.end() && found->second.stamp == stamp ? std::string(found->second.sha256) : "";
  }
  void keep(const std::string& sha256, const std::string& stamp, const std::string& name) {
    if (name.find('\n') == std::string::npos) fresh_ += sha256 + " " + stamp + " " + name + "\n";
  }
  // Only a shortcut: when it cannot be written the next call reads all again.
  void save() const {
    if (path_.empty() || fresh_ == text_) return;
    if (make_directories(std::filesystem::path(path_).parent_path().string()).ok())
      (void)write_file_atomic(path_, fresh_);
  }

 private:
  struct Note {
    std::string_view sha256, stamp;
  };
  std::string path_, text_, fresh_;
  std::unordered_map<std::string_view, Note> known_;
};

// Also where HOME is not set (cron, containers): never a folder that others share.
std::string home_folder(const Lookup& environment) {
  if (std::string home = environment("HOME"); home.starts_with('/')) return home;
  std::string buffer(size_t{1} << 14, '\0');
  passwd entry{}, *found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found) return "";
  return entry.pw_dir;
}

}  // namespace

std::string user_cache(const Lookup& environment) {
  if (const std::string xdg = environment("XDG_CACHE_HOME"); xdg.starts_with('/')) return xdg + "/radl";
  const std::string home = home_folder(environment);
  return home.empty() ? "" : home + "/.cache/radl";
}

Result<std::vector<std::string>> file_digests(const DatasetFiles& dataset, const std::string& cache) {
  Notes notes(dataset.path, cache);
  std::vector<std::string> all;
  for (const DatasetFile& file : dataset.files) {
    const std::string path = dataset.root + "/" + file.name;
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return errno_status(errno, path);
    const std::string stamp = stamp_of(info);
    std::string sha256 = notes.find(file.name, stamp);
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    bool settled = true;
    if (sha256.empty()) {
      auto digest = sha256_file(path);
      if (!digest.ok()) return digest.status();
      sha256 = std::move(*digest);
      settled = nanoseconds(now) - std::max(nanoseconds(info.st_mtim), nanoseconds(info.st_ctim)) > kSettled;
    }
    if (settled) notes.keep(sha256, stamp, file.name);
    all.push_back(std::move(sha256));
  }
  notes.save();
  return all;
}

std::string content_digest(const DatasetFiles& dataset, const std::vector<std::string>& digests) {
  Sha256 sum;
  for (size_t i = 0; i < dataset.files.size(); ++i)
    sum.update(digests[i] + " " + dataset.files[i].name + "\n");
  return sum.finish_hex();
}

}  // namespace radl
