#include "runtime/net/ssh/node_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <sstream>
#include <vector>

#include "common/digest.h"
#include "common/fd.h"
#include "common/files.h"
#include "common/new_file.h"
#include "runtime/base/local_digest.h"
#include "runtime/net/node_path.h"

namespace radl::ssh {
namespace {

constexpr std::chrono::hours kTransfer{6};      // a digest of a large file takes its time
constexpr size_t kSmall = 256 * 1024;           // smaller content takes one round trip
constexpr size_t kPiece = size_t{16} << 20;     // of a larger file, for each command
constexpr int kOtherBytes = 3, kOtherSize = 4;  // exit statuses of the scripts below
constexpr int kAttempts = 4;

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  size_t begin = text.rfind('\n');
  return begin == std::string::npos ? text : text.substr(begin + 1);
}

// The size of a part that an interrupted transfer left; 0 where there is none.
std::string size_script(const std::string& part) {
  return fmt::format("wc -c 2>/dev/null < {} || echo 0\n", shell_path(part));
}

// Appends standard input to a part of that size. A part that cannot grow is removed: it would keep the disk
// full.
std::string append_script(const std::string& part, unsigned long long offset) {
  return fmt::format(
      "umask 077; t={0}; {1}\n"
      "cat >> \"$t\" || {{ rm -f \"$t\"; exit 1; }}\n",
      shell_path(part),
      offset == 0 ? "rm -f \"$t\" || exit 1"
                  : fmt::format("n=$(wc -c 2>/dev/null < \"$t\") && [ \"$n\" -eq {} ] || exit {}", offset,
                                kOtherSize));
}

// Checks the part's digest, gives it its mode and its name. No part is left where it fails.
std::string commit_script(const std::string& part, const std::string& path, const std::string& sha256,
                          unsigned mode) {
  return fmt::format(
      "t={}; p={}; d=$(sha256sum < \"$t\") || exit 1\n"
      "[ \"${{d%% *}}\" = {} ] || {{ rm -f \"$t\"; exit {}; }}\n"
      "sync \"$t\" 2>/dev/null\n"
      "chmod {:04o} \"$t\" && mv -fT \"$t\" \"$p\" || {{ rm -f \"$t\"; exit 1; }}\n",
      shell_path(part), shell_path(path), sha256, kOtherBytes, mode);
}

std::string mode_script(const std::string& path, unsigned mode) {
  return fmt::format("chmod {:04o} {}", mode, shell_path(path));
}

// Takes all of the content from standard input; prints "same" where the file has it already.
std::string store_script(const std::string& path, const std::string& sha256, unsigned mode) {
  const std::string part = part_path(path, sha256);
  return fmt::format(
             "p={0}; t={1}\n"
             "if [ -f \"$p\" ] && [ ! -L \"$p\" ]; then d=$(sha256sum < \"$p\")\n"
             "if [ \"${{d%% *}}\" = {2} ]; then chmod {3:04o} \"$p\" && echo same; exit; fi; fi\n"
             "umask 077; cat > \"$t\" || {{ rm -f \"$t\"; exit 1; }}\n",
             shell_path(path), shell_path(part), sha256, mode) +
         commit_script(part, path, sha256, mode);
}

}  // namespace

// "MODE|OWNER|GROUP|SIZE|SHA256": the mode in hex, with the file's type. Its name would be in the node's
// language.
std::string stat_script(const std::string& path) {
  return fmt::format(
      "p={}; if [ ! -e \"$p\" ] && [ ! -L \"$p\" ]; then echo absent; else\n"
      "s=$(stat -c '%f|%U|%G|%s' \"$p\") || exit 1; d=\n"
      "if [ -f \"$p\" ] && [ ! -L \"$p\" ]; then d=$(sha256sum < \"$p\") || exit 1; d=${{d%% *}}; fi\n"
      "echo \"$s|$d\"; fi\n",
      shell_path(path));
}

Result<RemoteFile> parse_stat(const std::string& path, const ExecResult& result) {
  if (result.exit_status != 0) return command_failure(result, path);
  if (result.out.starts_with("absent\n")) return not_found(path + ": not on the node");
  std::vector<std::string> parts;
  std::istringstream line(result.out.substr(0, result.out.find('\n')));
  for (std::string part; std::getline(line, part, '|');) parts.push_back(part);
  if (parts.size() < 4) return internal_error(fmt::format("{}: the node's stat says '{}'", path, result.out));
  const auto mode = static_cast<mode_t>(std::strtoul(parts[0].c_str(), nullptr, 16));
  RemoteFile file;
  file.kind = S_ISREG(mode) ? "file" : S_ISDIR(mode) ? "directory" : S_ISLNK(mode) ? "link" : "other";
  file.mode = mode & 07777;
  file.owner = parts[1];
  file.group = parts[2];
  file.size = std::strtoull(parts[3].c_str(), nullptr, 10);
  if (parts.size() > 4) file.sha256 = parts[4];
  return file;
}

// Where a transfer's bytes come from: a local file or memory.
class RemoteByCommands::Source {
 public:
  virtual ~Source() = default;
  virtual unsigned long long size() const = 0;
  // Up to `room` bytes from `offset`; empty at the end.
  virtual Result<std::string> read(unsigned long long offset, size_t room) = 0;

  class File;
  class Memory;
};

class RemoteByCommands::Source::File : public Source {
 public:
  Status open(const std::string& path) {
    path_ = path;
    fd_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd_.open()) return errno_status(errno, path);
    struct stat info {};
    if (::fstat(fd_.get(), &info) != 0 || !S_ISREG(info.st_mode))
      return invalid(path + ": not a regular file");
    size_ = static_cast<unsigned long long>(info.st_size);
    return {};
  }
  unsigned long long size() const override { return size_; }
  Result<std::string> read(unsigned long long offset, size_t room) override {
    std::string piece(offset < size_ ? std::min<unsigned long long>(room, size_ - offset) : 0, '\0');
    for (size_t got = 0; got < piece.size();) {
      const ssize_t n =
          ::pread(fd_.get(), piece.data() + got, piece.size() - got, static_cast<off_t>(offset + got));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno_status(errno, path_);
      if (n == 0) return Status(Code::Conflict, path_ + ": became shorter while it was sent");
      got += static_cast<size_t>(n);
    }
    return piece;
  }

 private:
  std::string path_;
  Fd fd_;
  unsigned long long size_ = 0;
};

class RemoteByCommands::Source::Memory : public Source {
 public:
  explicit Memory(std::string_view bytes) : bytes_(bytes) {}
  unsigned long long size() const override { return bytes_.size(); }
  Result<std::string> read(unsigned long long offset, size_t room) override {
    return std::string(bytes_.substr(std::min<size_t>(offset, bytes_.size()), room));
  }

 private:
  std::string_view bytes_;
};

Result<RemoteFile> RemoteByCommands::stat(const std::string& remote_path, const Stop& stop) {
  ExecOptions options;
  options.stop = stop;
  options.deadline = kTransfer;
  auto result = exec_for_data(*this, stat_script(remote_path), options);
  if (!result) return result.status();
  return parse_stat(remote_path, *result);
}

// The bytes from `offset` on, then the commit, in the command of the last piece.
Status RemoteByCommands::send_rest(Source& source, unsigned long long offset, const std::string& part,
                                   const std::string& remote_path, const std::string& commit,
                                   const Stop& stop) {
  for (bool last = false; !last;) {
    auto piece = source.read(offset, kPiece);
    if (!piece) return piece.status();
    ExecOptions options;
    options.stop = stop;
    options.deadline = kTransfer;
    options.stdin_bytes = std::move(*piece);
    last = offset + options.stdin_bytes.size() >= source.size();
    auto sent = exec(append_script(part, offset) + (last ? commit : ""), options);
    if (!sent) return sent.status();
    if (sent->exit_status == kOtherSize || sent->exit_status == kOtherBytes)
      return {Code::Corrupt, remote_path + ": the node has other bytes than were sent"};
    if (sent->exit_status != 0) return command_failure(*sent, remote_path);
    offset += options.stdin_bytes.size();
  }
  return {};
}

Result<bool> RemoteByCommands::put(Source& source, const std::string& sha256, const std::string& remote_path,
                                   unsigned mode, const Stop& stop) {
  ExecOptions options;
  options.stop = stop;
  options.deadline = kTransfer;
  const std::string part = part_path(remote_path, sha256),
                    commit = commit_script(part, remote_path, sha256, mode);
  Status last;
  bool resume = true;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto looked = exec_for_data(*this, stat_script(remote_path) + size_script(part), options);
    auto there = looked ? parse_stat(remote_path, *looked) : Result<RemoteFile>(looked.status());
    if (!there && there.status().code() == Code::Lost) {
      last = there.status();
      continue;
    }
    if (!there && there.status().code() != Code::NotFound) return there.status();
    if (there && there->kind == "file" && there->sha256 == sha256) {
      if (there->mode == mode) return attempt > 0;
      auto changed = exec(mode_script(remote_path, mode), options);
      if (!changed) return changed.status();
      if (changed->exit_status != 0) return command_failure(*changed, remote_path);
      return attempt > 0;
    }
    if (there && there->kind == "directory") return invalid(remote_path + ": is a folder on the node");
    unsigned long long offset = std::strtoull(last_line(looked->out).c_str(), nullptr, 10);
    if (!resume || offset > source.size()) offset = 0;
    last = send_rest(source, offset, part, remote_path, commit, stop);
    if (last.ok()) return true;
    // A new connection resumes where the lost one stopped; a part with other bytes is sent again.
    if (last.code() != Code::Lost && last.code() != Code::Corrupt) return last;
    resume = last.code() == Code::Lost;
  }
  return last;
}

Result<bool> RemoteByCommands::put_file(const std::string& local_path, const std::string& remote_path,
                                        unsigned mode, const Stop& stop) {
  auto digest = local_digest(local_path);
  if (!digest) return digest.status();
  Source::File source;
  if (Status s = source.open(local_path); !s.ok()) return s;
  return put(source, *digest, remote_path, mode, stop);
}

Result<bool> RemoteByCommands::put_bytes(std::string_view content, const std::string& remote_path,
                                         unsigned mode, const Stop& stop) {
  const std::string digest = sha256_hex(content);
  if (content.size() > kSmall) {
    Source::Memory source(content);
    return put(source, digest, remote_path, mode, stop);
  }
  ExecOptions options;
  options.stop = stop;
  options.stdin_bytes = content;
  auto done = exec(store_script(remote_path, digest, mode), options);
  if (!done) return done.status();
  if (done->exit_status == kOtherBytes)
    return Status(Code::Retry, remote_path + ": the node has other bytes than were sent");
  if (done->exit_status != 0) return command_failure(*done, remote_path);
  return !done->out.starts_with("same");
}

Status RemoteByCommands::get_file(const std::string& remote_path, const std::string& local_path,
                                  const Stop& stop) {
  for (int attempt = 1;; ++attempt) {
    auto there = stat(remote_path, stop);
    if (!there && there.status().code() == Code::Lost && attempt < kAttempts) continue;
    if (!there) return there.status();
    if (there->kind != "file" && there->kind != "link")
      return invalid(remote_path + ": is not a file on the node");
    if (auto own = local_digest(local_path); own && *own == there->sha256) return {};
    NewFile local;
    if (Status s = local.create(local_path); !s.ok()) return s;
    Status written;
    ExecOptions options;
    options.deadline = kTransfer;
    options.stop = stop.or_when(Stop::when([&] { return !written.ok(); }));
    options.on_output = [&](std::string_view piece, bool is_stderr) {
      if (!is_stderr && written.ok()) written = local.write(piece);
    };
    auto sent = exec("cat " + shell_path(remote_path), options);
    if (!written.ok()) return written;
    Status done = !sent                    ? sent.status()
                  : sent->exit_status != 0 ? command_failure(*sent, remote_path)
                                           : Status();
    if (done.ok()) {
      auto digest = sha256_file(local.content_path());
      if (!digest) return digest.status();
      if (there->sha256.empty() || *digest == there->sha256) return local.commit();
      done = {Code::Corrupt, remote_path + ": was changed while it was fetched"};
    }
    const bool again = done.code() == Code::Lost || done.code() == Code::Corrupt;
    if (!again || attempt == kAttempts - 1) return done;
  }
}

std::string part_path(const std::string& path, const std::string& sha256) {
  return path + ".radl-" + sha256.substr(0, 16) + ".part";
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

}  // namespace radl::ssh
