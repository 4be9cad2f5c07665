#include "runtime/base/local_digest.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <mutex>

#include "common/digest.h"
#include "common/files.h"

namespace radl {
namespace {

constexpr size_t kMostKnown = 1 << 16;

struct DigestCache {
  std::mutex mutex;
  std::map<std::string, std::pair<std::string, std::string>> known;  // path -> stamp, digest

  void keep(const std::string& path, const std::string& stamp, const std::string& digest) {
    std::lock_guard lock(mutex);
    if (known.size() >= kMostKnown) known.clear();  // they are only quicker than reading again
    known[path] = {stamp, digest};
  }
};

DigestCache& digest_cache() {
  static DigestCache cache;  // content is a function of the stamp: safe to share
  return cache;
}

// Changes whenever the content may have.
std::string stamp_of(const struct stat& info) {
  return fmt::format("{}.{}.{}.{}.{}.{}.{}", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
}

}  // namespace

Result<std::string> local_digest(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return errno_status(errno, path);
  std::string stamp = stamp_of(info);
  auto& cache = digest_cache();
  {
    std::lock_guard lock(cache.mutex);
    auto found = cache.known.find(path);
    if (found != cache.known.end() && found->second.first == stamp) return found->second.second;
  }
  auto digest = sha256_file(path);
  if (!digest) return digest;
  cache.keep(path, stamp, *digest);
  return digest;
}

void remember_digest(const std::string& path, const std::string& digest) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return;
  digest_cache().keep(path, stamp_of(info), digest);
}

}  // namespace radl
