#include "runtime/steps/place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <linux/fs.h>

#include "common/digest.h"
#include "common/files.h"
#include "common/new_file.h"
#include "common/turn.h"
#include "runtime/base/local_digest.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/node_files.h"
#include "runtime/steps/manifest.h"

namespace radl {
namespace {

namespace fs = std::filesystem;

// All that is left of `in`, through memory.
Status copy_rest(int in, const std::string& from, NewFile& out) {
  std::string piece(size_t{1} << 20, '\0');
  for (;;) {
    ssize_t n = ::read(in, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_status(errno, from);
    if (n == 0) return {};
    if (Status s = out.write({piece.data(), static_cast<size_t>(n)}); !s.ok()) return s;
  }
}

// Within the kernel as far as it can: what it cannot (file systems of two kinds) is left to copy_rest().
Status copy_content(int in, const std::string& from, NewFile& out, const std::string& to) {
  if (::ioctl(out.descriptor(), FICLONE, in) == 0) return {};
  for (;;) {
    ssize_t n = ::copy_file_range(in, nullptr, out.descriptor(), nullptr, size_t{1} << 28, 0);
    if (n == 0) break;  // the end; of some files (in /proc) it says so at once
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)) break;
    if (n < 0) return errno_status(errno, to);
  }
  return copy_rest(in, from, out);
}

// The file `to` is there whole, or not at all.
Status copy_file(const std::string& from, const std::string& to, unsigned mode) {
  int in = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0) return errno_status(errno, from);
  NewFile out;
  Status done = out.create(to, 0600);
  if (done.ok()) done = copy_content(in, from, out, to);
  if (done.ok()) done = out.set_mode(mode);
  ::close(in);
  return done.ok() ? out.commit() : done;
}

// The infrastructure's own copy of a content, whole and read-only. Its path.
Result<std::string> cached_copy(const Context& context, const std::string& local_path,
                                const std::string& sha256, unsigned mode) {
  auto turn = KeyTurn::take("cache " + context.work_directory, context.stop);
  if (!turn) return std::move(turn).status();
  std::string folder = context.work_directory + "/cache";
  std::string path = fmt::format("{}/{}-{:o}", folder, sha256, mode);
  auto there = local_digest(path);
  if (there && *there == sha256) return path;
  if (Status s = make_directories(folder, 0700); !s.ok()) return s;
  ::unlink(path.c_str());  // damaged, or changed by a node
  if (Status s = copy_file(local_path, path, mode & 0555); !s.ok()) return s;
  auto digest = local_digest(local_path);  // read again only if it was changed meanwhile
  if (digest && *digest == sha256) {
    remember_digest(path, sha256);
    return path;
  }
  ::unlink(path.c_str());
  return digest ? Status(Code::Conflict, local_path + ": changed while it was copied") : digest.status();
}

std::string below_home(const NodeHandle& node, const std::string& remote_path) {
  if (remote_path.starts_with('/')) return remote_path;
  return node.attributes.value("home", "") + "/" + sftp_path(remote_path);
}

// True when the node's folder lies on this computer and the path is within it, so that files can be put there
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
  if (::link(copy->c_str(), temporary.c_str()) != 0) {
    if (Status s = copy_file(*copy, path, mode & 0555); !s.ok()) return s;
    return true;
  }
  remember_digest(*copy, sha256);  // the link count alone has changed
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
  ExecOptions options;
  options.stop = context.stop;
  auto there = (*remote)->stat(remote_path, options.stop);
  if (!there && there.status().code() != Code::NotFound) return there.status();
  if (there && there->sha256 == *digest && there->mode == mode) return false;
  // One for each mode: all links of a file share it.
  std::string cache = fmt::format("~/.radl/cache/{}-{:o}", *digest, mode);
  auto made = (*remote)->exec(
      fmt::format("mkdir -p {} {}", shell_path("~/.radl/cache"), shell_path(parent_path(remote_path))),
      options);
  if (!made) return made.status();
  if (made->exit_status != 0) return ssh::command_failure(*made, remote_path);
  auto sent = (*remote)->put_file(local_path, cache, mode, options.stop);
  if (!sent) return sent.status();
  // A name of its own first, so that the old content stays until the new is whole.
  auto linked = (*remote)->exec(fmt::format("c={}; p={}; t=$p.radl-$$; trap 'rm -f \"$t\"' EXIT; ln -f "
                                            "\"$c\" \"$t\" 2>/dev/null || cp -p \"$c\" "
                                            "\"$t\" || exit 1; mv -fT \"$t\" \"$p\"",
                                            shell_path(cache), shell_path(remote_path)),
                                options);
  if (!linked) return linked.status();
  if (linked->exit_status != 0) return ssh::command_failure(*linked, remote_path);
  return *sent;
}

Status place_once(const NodeHandle& node, const Context& context, const std::string& local_path,
                  const std::string& remote_path) {
  const std::string direct = below_home(node, remote_path);
  if (within_reach(node, direct)) {
    if (Status made = make_directories(parent_path(direct), 0755); !made.ok()) return made;
    return copy_file(local_path, direct, 0600);
  }
  auto remote = node.connect();
  if (!remote) return remote.status();
  ExecOptions options;
  options.stop = context.stop;
  auto made = (*remote)->exec("mkdir -p " + shell_path(parent_path(remote_path)), options);
  if (!made) return made.status();
  if (made->exit_status != 0) return ssh::command_failure(*made, remote_path);
  return (*remote)->put_file(local_path, remote_path, 0600, options.stop).status();
}

}  // namespace radl
