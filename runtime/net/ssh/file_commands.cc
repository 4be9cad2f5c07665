// What both transports say to the node's shell about files, and local files as sources of a transfer.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "common/digest.h"
#include "common/files.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/remote.h"

namespace radl::ssh {
namespace {

std::string last_line(const std::string& text) {
  std::string trimmed = text;
  while (!trimmed.empty() && (trimmed.back() == '\n' || trimmed.back() == ' ')) trimmed.pop_back();
  size_t begin = trimmed.rfind('\n');
  return begin == std::string::npos ? trimmed : trimmed.substr(begin + 1);
}

}  // namespace

std::string stat_command(const std::string& path) {
  std::string p = shell_path(path);
  return fmt::format(
      "p={}; if [ ! -e \"$p\" ] && [ ! -L \"$p\" ]; then echo absent; exit 0; fi; "
      "s=$(stat -c '%F|%a|%U|%G|%s' \"$p\") || exit 1; d=; "
      "if [ -f \"$p\" ] && [ ! -L \"$p\" ]; then d=$(sha256sum < \"$p\") || exit 1; d=${{d%% *}}; fi; echo "
      "\"$s|$d\"",
      p);
}

Result<RemoteFile> parse_stat(const std::string& path, const ExecResult& result) {
  if (result.exit_status != 0) return command_failure(result, path);
  if (result.out.starts_with("absent")) return not_found(path + ": not on the node");
  std::vector<std::string> parts;
  std::istringstream line(result.out.substr(0, result.out.find('\n')));
  for (std::string part; std::getline(line, part, '|');) parts.push_back(part);
  if (parts.size() < 5) return internal_error(fmt::format("{}: the node's stat says '{}'", path, result.out));
  RemoteFile file;
  bool regular = parts[0] == "regular file" || parts[0] == "regular empty file";
  file.kind = regular                       ? "file"
              : parts[0] == "directory"     ? "directory"
              : parts[0] == "symbolic link" ? "link"
                                            : "other";
  file.mode = static_cast<unsigned>(std::strtoul(parts[1].c_str(), nullptr, 8));
  file.owner = parts[2];
  file.group = parts[3];
  file.size = std::strtoull(parts[4].c_str(), nullptr, 10);
  if (parts.size() > 5) file.sha256 = parts[5];
  return file;
}

std::string part_path(const std::string& path, const std::string& sha256) {
  return path + ".radl-" + sha256.substr(0, 16) + ".part";
}

std::string commit_command(const std::string& part, const std::string& path, const std::string& sha256,
                           unsigned mode) {
  return fmt::format(
      "t={}; p={}; d=$(sha256sum < \"$t\") || exit 1; [ \"${{d%% *}}\" = {} ] || exit 3; chmod {:04o} \"$t\" "
      "&& "
      "{{ sync \"$t\" 2>/dev/null; mv -fT \"$t\" \"$p\"; }}",
      shell_path(part), shell_path(path), sha256, mode);
}

std::string mode_command(const std::string& path, unsigned mode) {
  return fmt::format("chmod {:04o} {}", mode, shell_path(path));
}

std::string store_command(const std::string& path, const std::string& sha256, unsigned mode) {
  return fmt::format(
      "p={0}; t={1}; if [ -f \"$p\" ] && [ ! -L \"$p\" ]; then d=$(sha256sum < \"$p\"); if [ \"${{d%% *}}\" "
      "= {2} ]; then "
      "chmod {3:04o} \"$p\" && echo same; exit; fi; fi; umask 077; cat > \"$t\" || exit 1; d=$(sha256sum < "
      "\"$t\"); "
      "if [ \"${{d%% *}}\" != {2} ]; then echo 'input was cut short' >&2; rm -f \"$t\"; exit 1; fi; chmod "
      "{3:04o} \"$t\" && mv -fT \"$t\" \"$p\"",
      shell_path(path), shell_path(part_path(path, sha256)), sha256, mode);
}

Status command_failure(const ExecResult& result, const std::string& what) {
  std::string why = last_line(result.err);
  Code code = Code::Invalid;
  if (why.find("No space left") != std::string::npos || why.find("quota") != std::string::npos)
    code = Code::Quota;
  if (why.find("No such file") != std::string::npos || why.find("nonexistent") != std::string::npos)
    code = Code::NotFound;
  return {code,
          fmt::format("{}: {}", what, why.empty() ? fmt::format("exit status {}", result.exit_status) : why)};
}

Result<std::unique_ptr<FileSource>> FileSource::open(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno_status(errno, path);
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return invalid(path + ": not a regular file");
  }
  return std::unique_ptr<FileSource>(new FileSource(path, fd, static_cast<unsigned long long>(info.st_size)));
}

FileSource::~FileSource() { ::close(fd_); }

Result<size_t> FileSource::read_at(unsigned long long offset, char* out, size_t room) {
  for (;;) {
    ssize_t n = pread(fd_, out, room, static_cast<off_t>(offset));
    if (n >= 0) return static_cast<size_t>(n);
    if (errno != EINTR) return errno_status(errno, path_);
  }
}

}  // namespace radl::ssh
