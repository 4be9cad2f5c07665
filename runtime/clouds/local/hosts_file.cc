#include "runtime/clouds/local/hosts_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "common/fd.h"
#include "common/files.h"

namespace radl::local {
namespace {

constexpr std::string_view kBegin = "# radlc: the nodes of this infrastructure\n", kEnd = "# radlc: end\n";

// Whether a root is this computer's own: a view of a node is a file system of its own.
Result<bool> is_own_root(int top) {
  struct stat given {
  }, own{};
  if (fstat(top, &given) != 0 || stat("/", &own) != 0) return errno_status(errno, "/");
  return given.st_dev == own.st_dev && given.st_ino == own.st_ino;
}

// The node's own root decides what lies there, so a link must not lead out into this machine.
int open_inside(int root, const char* path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT;
  return static_cast<int>(syscall(SYS_openat2, root, path, &how, sizeof how));
}

std::string read_all(int fd) {
  std::string text;
  char piece[4096];
  for (ssize_t n; (n = read(fd, piece, sizeof piece)) > 0 && text.size() < (1U << 20);)
    text.append(piece, static_cast<size_t>(n));
  return text;
}

}  // namespace

std::string host_lines(const std::vector<Record>& nodes) {
  std::string lines;
  for (const Record& node : nodes) {
    std::vector<std::string> full{node.hostname};
    auto more = node.spec.find("names");
    if (more != node.spec.end() && more->is_array()) {
      for (const auto& name : *more) full.push_back(name.get<std::string>());
    }
    std::set<std::string> told;
    for (const std::string& name : full) {
      std::string line = node.host, short_name = name.substr(0, name.find('.'));
      if (told.insert(name).second) line += " " + name;
      if (told.insert(short_name).second) line += " " + short_name;
      if (line != node.host) lines += line + "\n";
    }
  }
  return lines;
}

std::string with_block(const std::string& text, const std::string& lines) {
  std::string block = lines.empty() ? "" : std::string(kBegin) + lines + std::string(kEnd);
  size_t begin = text.find(kBegin), end = begin == std::string::npos ? begin : text.find(kEnd, begin);
  if (end != std::string::npos) return text.substr(0, begin) + block + text.substr(end + kEnd.size());
  return text + (text.empty() || text.ends_with('\n') ? "" : "\n") + block;
}

Result<bool> update_hosts_file(const std::string& root, const std::string& lines) {
  Fd top(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (top.get() < 0) return errno_status(errno, root);
  Result<bool> own = is_own_root(top.get());
  if (!own.ok()) return own;
  if (*own) return false;
  Fd folder(open_inside(top.get(), "etc", O_RDONLY | O_DIRECTORY));
  if (folder.get() < 0) return errno_status(errno, root + "/etc");
  Fd old(openat(folder.get(), "hosts", O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  std::string text = old.get() >= 0 ? read_all(old.get()) : "", wanted = with_block(text, lines);
  if (wanted == text) return true;
  constexpr const char* kTemporary = ".hosts.radlc";
  unlinkat(folder.get(), kTemporary, 0);
  Fd made(openat(folder.get(), kTemporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (made.get() < 0) return errno_status(errno, root + "/etc/hosts");
  const std::string path = root + "/etc/hosts";
  Status done = write_all(made.get(), wanted, path);
  if (done.ok() &&
      (fchmod(made.get(), 0644) != 0 || renameat(folder.get(), kTemporary, folder.get(), "hosts") != 0))
    done = errno_status(errno, path);
  if (done.ok()) return true;
  unlinkat(folder.get(), kTemporary, 0);
  return done;
}

}  // namespace radl::local
