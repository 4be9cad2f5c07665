// The Remote over libssh2, and what it shares with the one over the system's OpenSSH client.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/net/ssh/session.h"
#include "runtime/net/ssh/sftp.h"

namespace radl::ssh {

class SshRemote : public Remote {
 public:
  SshRemote(Target target, std::function<void(const std::string&)> log)
      : target_(std::move(target)), log_(std::move(log)) {}
  Result<ExecResult> exec(const std::string& shell_command, const ExecOptions& options) override;
  Result<bool> put_file(const std::string& local_path, const std::string& remote_path, unsigned mode,
                        const Stop& stop) override;
  Result<bool> put_bytes(std::string_view content, const std::string& remote_path, unsigned mode,
                         const Stop& stop) override;
  Status get_file(const std::string& remote_path, const std::string& local_path, const Stop& stop) override;
  Result<RemoteFile> stat(const std::string& remote_path, const Stop& stop) override;

 private:
  // The present session, or a new one; nullptr when the system's client serves this target: see `other`.
  Result<std::shared_ptr<Session>> session(const Stop& stop);
  Remote* other();
  Result<bool> put(ByteSource& source, const std::string& sha256, const std::string& remote_path,
                   unsigned mode, const Stop& stop);

  Target target_;
  std::function<void(const std::string&)> log_;
  std::mutex mutex_;
  std::shared_ptr<Session> session_;
  std::unique_ptr<Remote> other_;  // once libssh2 and the server could not agree
};

// Shell texts that both transports run on the node.
// Prints "kind mode owner group size sha256" of a path, or "absent".
std::string stat_command(const std::string& path);
Result<RemoteFile> parse_stat(const std::string& path, const ExecResult& result);
// Checks the part's digest, gives it its mode and its name; exit status 3 when the digest differs.
std::string commit_command(const std::string& part, const std::string& path, const std::string& sha256,
                           unsigned mode);
// Sets only the mode.
std::string mode_command(const std::string& path, unsigned mode);
// Takes the content from standard input.
std::string store_command(const std::string& path, const std::string& sha256, unsigned mode);
// Name of the file that holds a transfer until it is whole; depends on the content so that it can be resumed.
std::string part_path(const std::string& path, const std::string& sha256);
Status command_failure(const ExecResult& result, const std::string& what);

class FileSource : public ByteSource {
 public:
  static Result<std::unique_ptr<FileSource>> open(const std::string& path);
  ~FileSource() override;
  unsigned long long size() const override { return size_; }
  Result<size_t> read_at(unsigned long long offset, char* out, size_t room) override;

 private:
  FileSource(std::string path, int fd, unsigned long long size)
      : path_(std::move(path)), fd_(fd), size_(size) {}
  std::string path_;
  int fd_;
  unsigned long long size_;
};

}  // namespace radl::ssh
