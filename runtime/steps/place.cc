#include "runtime/steps/place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <mutex>

#include <linux/fs.h>

#include "common/digest.h"
#include "common/files.h"
#include "runtime/base/local_digest.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/remote.h"
#include "runtime/steps/manifest.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

// Reflink where the file system can, else an in-kernel copy. The target must not exist.
Status copy_file(const std::string& from, const std::string& to, unsigned mode) {
  int in = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0) return errno_status(errno, from);
  int out = ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (out < 0) {
    Status failed = errno_status(errno, to);
    ::close(in);
    return failed;
  }
  Status done;
  if (::ioctl(out, FICLONE, in) != 0) {
    for (;;) {
      ssize_t n = ::copy_file_range(in, nullptr, out, nullptr, size_t{1} << 28, 0);
      if (n == 0) break;
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {  // another file system
        std::error_code error;
        fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
        if (error) done = errno_status(error.value(), to);
        break;
      }
    }
  }
  if (done.ok() && ::fchmod(out, mode) != 0) done = errno_status(errno, to);
  ::close(in);
  ::close(out);
  if (!done.ok()) ::unlink(to.c_str());
  return done;
}

// The infrastructure's own copy of a content, whole and read-only. Its path.
Result<std::string> cached_copy(const Context& context, const std::string& local_path,
                                const std::string& sha256, unsigned mode) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  std::string folder = context.work_directory + "/cache";
  std::string path = fmt::format("{}/{}-{:o}", folder, sha256, mode);
  auto there = local_digest(path);
  if (there && *there == sha256) return path;
  if (Status s = make_directories(folder, 0700); !s.ok()) return s;
  ::unlink(path.c_str());  // damaged, or changed by a node
  std::string temporary = path + ".tmp-" + to_hex(random_bytes(4));
  if (Status s = copy_file(local_path, temporary, mode & 0555); !s.ok()) return s;
  auto digest = local_digest(local_path);  // read again only if it was changed meanwhile
  if (!digest || *digest != sha256) {
    ::unlink(temporary.c_str());
    return digest ? Status(Code::Conflict, local_path + ": changed while it was copied") : digest.status();
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return errno_status(errno, path);
  remember_digest(path, sha256);
  return path;
}

std::string below_home(const NodeHandle& node, const std::string& remote_path) {
  if (remote_path.starts_with('/')) return remote_path;
  return node.attributes.value("home", "") + "/" + sftp_path(remote_path);
}

// True when the node's folder lies on this machine and the path is within it, so that files can be put there
// directly.
bool within_reach(const NodeHandle& node, const std::string& path) {
  std::string folder = node.attributes.value("local_directory", "");
  if (folder.empty() || !path.starts_with(folder + "/") || path.find("/../") != std::string::npos)
    return false;
  std::error_code error;
  // A link on the way could lead out of the folder.
  auto real = fs::weakly_canonical(path, error), top = fs::canonical(folder, error);
  return !error && real.string().starts_with(top.string() + "/");
}

Result<bool> place_directly(const Context& context, const std::string& local_path, const std::string& sha256,
                            const std::string& path, unsigned mode) {
  auto there = local_digest(path);
  struct stat info {};
  if (there && *there == sha256 && ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) return false;
  auto copy = cached_copy(context, local_path, sha256, mode);
  if (!copy) return copy.status();
  if (Status s = make_directories(parent_path(path), 0755); !s.ok()) return s;
  std::string temporary = path + ".tmp-" + to_hex(random_bytes(4));
  if (::link(copy->c_str(), temporary.c_str()) == 0) {
    remember_digest(*copy, sha256);  // the link count alone has changed
  } else {
    if (Status s = copy_file(*copy, temporary, mode & 0555); !s.ok()) return s;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    Status failed = errno_status(errno, path);
    ::unlink(temporary.c_str());
    return failed;
  }
  return true;
}

}  // namespace

Result<bool> place_file(const NodeHandle& node, const Context& context, const std::string& local_path,
                        const std::string& remote_path, unsigned mode) {
  auto digest = local_digest(local_path);
  if (!digest) return digest.status();
  std::string direct = below_home(node, remote_path);
  if (within_reach(node, direct)) return place_directly(context, local_path, *digest, direct, mode);
  auto remote = node.connect();
  if (!remote) return remote.status();
  auto there = (*remote)->stat(remote_path);
  if (!there && there.status().code() != Code::NotFound) return there.status();
  if (there && there->sha256 == *digest && there->mode == mode) return false;
  std::string cache = "~/.radl/cache/" + *digest;
  auto made = (*remote)->exec(
      fmt::format("mkdir -p {} {}", shell_path("~/.radl/cache"), shell_path(parent_path(remote_path))));
  if (!made) return made.status();
  if (made->exit_status != 0) return ssh::command_failure(*made, remote_path);
  auto sent = (*remote)->put_file(local_path, cache, mode);
  if (!sent) return sent.status();
  // A link where the modes agree; a name of its own first, so that the old content stays until the new is
  // whole.
  auto linked =
      (*remote)->exec(fmt::format("c={}; p={}; ln -f \"$c\" \"$p.radl-$$\" 2>/dev/null || cp -p \"$c\" "
                                  "\"$p.radl-$$\" || exit 1; mv -fT \"$p.radl-$$\" \"$p\"",
                                  shell_path(cache), shell_path(remote_path)));
  if (!linked) return linked.status();
  if (linked->exit_status != 0) return ssh::command_failure(*linked, remote_path);
  return *sent;
}

Result<bool> place_folder(const NodeHandle& node, const Context& context, const std::string& local_folder,
                          const std::string& remote_folder) {
  std::error_code error;
  if (!fs::is_directory(local_folder, error)) return not_found(local_folder + ": no such folder");
  bool sent = false;
  for (auto at = fs::recursive_directory_iterator(local_folder, error);
       at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (error) return errno_status(error.value(), local_folder);
    if (!at->is_regular_file()) continue;  // links are followed: a data set's files may live elsewhere
    unsigned mode = static_cast<unsigned>(at->status().permissions()) & 0777;
    auto placed =
        place_file(node, context, at->path().string(),
                   remote_folder + "/" + at->path().lexically_relative(local_folder).string(), mode & 0555);
    if (!placed) return placed.status();
    sent |= *placed;
  }
  return sent;
}

}  // namespace radl
