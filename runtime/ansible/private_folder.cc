#include "runtime/ansible/private_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "common/digest.h"
#include "common/files.h"

namespace radl::recipes {

namespace fs = std::filesystem;

Status PrivateFolder::make(const std::string& prefix, bool stale) {
  std::error_code ignored;
  if (stale) {
    fs::path begin(prefix + "-");
    for (const auto& entry : fs::directory_iterator(begin.parent_path(), ignored)) {
      struct stat info {};
      bool mine = lstat(entry.path().c_str(), &info) == 0 && info.st_uid == geteuid();
      if (mine && entry.path().filename().string().starts_with(begin.filename().string()))
        fs::remove_all(entry.path(), ignored);
    }
  }
  std::string name = prefix + "-XXXXXX";
  if (!mkdtemp(name.data())) return errno_status(errno, name);
  path_ = name;
  return {};
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

namespace {

// What ssh puts behind the folder: '/', a hash of 40 digits, a suffix of 17 while it binds, the closing NUL.
constexpr size_t kSocketName = 1 + 40 + 17 + 1;
constexpr size_t kLongestFolder = sizeof(sockaddr_un::sun_path) - kSocketName;

// A link of this user's to that folder.
bool leads_to(const std::string& link, const std::string& folder) {
  struct stat info {};
  std::error_code error;
  return ::lstat(link.c_str(), &info) == 0 && S_ISLNK(info.st_mode) && info.st_uid == ::geteuid() &&
         std::filesystem::read_symlink(link, error) == folder;
}

}  // namespace

Status ShortPath::open(const std::string& folder) {
  if (Status s = make_directories(folder, 0700); !s.ok()) return s;
  path_ = folder;
  if (folder.size() <= kLongestFolder) return {};
  std::error_code error;
  const std::string whole = std::filesystem::absolute(folder, error);
  link_ = fmt::format("/tmp/radl-{}-{}", ::geteuid(), sha256_hex(whole).substr(0, 16));
  if (::symlink(whole.c_str(), link_.c_str()) != 0 && errno != EEXIST) return errno_status(errno, link_);
  if (leads_to(link_, whole)) {
    path_ = link_;
    return {};
  }
  return {Code::Conflict, std::exchange(link_, "") + ": another user owns this name; remove it"};
}

ShortPath::~ShortPath() {
  if (!link_.empty()) ::unlink(link_.c_str());
}

}  // namespace radl::recipes
