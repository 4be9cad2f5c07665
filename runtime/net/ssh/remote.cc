#include "runtime/net/ssh/remote.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/digest.h"
#include "runtime/base/local_digest.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/openssh.h"

namespace radl::ssh {
namespace {

constexpr std::chrono::seconds kConnect{30};
constexpr std::chrono::hours kTransfer{6};
constexpr size_t kSmall = 256 * 1024;  // smaller content goes through standard input: one round trip

Patience until(std::chrono::milliseconds time, std::function<bool()> cancelled = {}) {
  return {std::chrono::steady_clock::now() + time, std::move(cancelled)};
}

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : bytes_(bytes) {}
  unsigned long long size() const override { return bytes_.size(); }
  Result<size_t> read_at(unsigned long long offset, char* out, size_t room) override {
    if (offset >= bytes_.size()) return size_t{0};
    size_t n = std::min<size_t>(room, bytes_.size() - offset);
    std::memcpy(out, bytes_.data() + offset, n);
    return n;
  }

 private:
  std::string_view bytes_;
};

}  // namespace

Result<std::shared_ptr<Session>> SshRemote::session(const Patience& patience) {
  std::lock_guard lock(mutex_);
  if (session_ && !session_->lost()) return session_;
  session_.reset();
  auto made = Session::open(target_, patience);
  if (!made) return made.status();
  session_ = *made;
  return made;
}

Result<ExecResult> SshRemote::exec(const std::string& shell_command, const ExecOptions& options) {
  auto now =
      session(until(std::min<std::chrono::milliseconds>(options.deadline, kConnect), options.cancelled));
  if (!now) return now.status();
  return (*now)->exec(shell_command, options);
}

Result<RemoteFile> SshRemote::stat(const std::string& remote_path) {
  auto result = exec(stat_command(remote_path), {});
  if (!result) return result.status();
  return parse_stat(remote_path, *result);
}

Result<bool> SshRemote::put(ByteSource& source, const std::string& sha256, const std::string& remote_path,
                            unsigned mode) {
  auto there = stat(remote_path);
  if (!there && there.status().code() != Code::NotFound) return there.status();
  if (there && there->kind == "file" && there->sha256 == sha256) {
    if (there->mode == mode) return false;
    auto changed = exec(mode_command(remote_path, mode), {});
    if (!changed) return changed.status();
    if (changed->exit_status != 0) return command_failure(*changed, remote_path);
    return false;
  }
  if (there && there->kind == "directory") return invalid(remote_path + ": is a folder on the node");
  std::string part = part_path(remote_path, sha256);
  Status last;
  bool resume = true;
  for (int attempt = 0; attempt < 4; ++attempt) {
    auto now = session(until(kConnect));
    if (!now) return now.status();
    auto sent = sftp_write(**now, source, sftp_path(part), resume, until(kTransfer));
    if (!sent) {
      last = sent.status();
      if (last.code() != Code::Lost) return last;
      continue;  // a new connection goes on where the lost one stopped
    }
    auto done = (*now)->exec(commit_command(part, remote_path, sha256, mode), {});
    if (!done) {
      last = done.status();
      if (last.code() != Code::Lost) return last;
      continue;
    }
    if (done->exit_status == 0) return true;
    if (done->exit_status != 3) return command_failure(*done, remote_path);
    last = {Code::Corrupt, remote_path + ": the node has other bytes than were sent"};
    resume = false;  // the part that was there was of something else: begin anew
  }
  return last;
}

Result<bool> SshRemote::put_file(const std::string& local_path, const std::string& remote_path,
                                 unsigned mode) {
  auto digest = local_digest(local_path);
  if (!digest) return digest.status();
  auto source = FileSource::open(local_path);
  if (!source) return source.status();
  return put(**source, *digest, remote_path, mode);
}

Result<bool> SshRemote::put_bytes(std::string_view content, const std::string& remote_path, unsigned mode) {
  std::string digest = sha256_hex(content);
  if (content.size() > kSmall) {
    MemorySource source(content);
    return put(source, digest, remote_path, mode);
  }
  ExecOptions options;
  options.stdin_bytes = content;
  auto done = exec(store_command(remote_path, digest, mode), options);
  if (!done) return done.status();
  if (done->exit_status != 0) return command_failure(*done, remote_path);
  return !done->out.starts_with("same");
}

Status SshRemote::get_file(const std::string& remote_path, const std::string& local_path) {
  for (int attempt = 0;; ++attempt) {
    auto there = stat(remote_path);
    if (!there && there.status().code() == Code::Lost && attempt < 2) continue;
    if (!there) return there.status();
    if (there->kind != "file" && there->kind != "link")
      return invalid(remote_path + ": is no file on the node");
    if (auto own = local_digest(local_path); own && *own == there->sha256) return {};
    auto now = session(until(kConnect));
    if (!now) return now.status();
    Status done = sftp_read(**now, sftp_path(remote_path), local_path, there->sha256, until(kTransfer));
    bool again = done.code() == Code::Lost || done.code() == Code::Corrupt;
    if (!again || attempt == 2) return done;
  }
}

Result<Target> target_of(const nlohmann::json& attributes) {
  auto text = [&](const char* name) {
    auto found = attributes.find(name);
    return found != attributes.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  Target target;
  target.host = text("host");
  target.port = attributes.value("port", 22);
  target.user = text("user");
  target.host_key = text("host_key");
  target.key_file = text("private_key_path");
  target.jump = text("jump");
  target.ssh_config = text("ssh_config");
  target.known_hosts_file = text("known_hosts_file");
  target.use_agent = attributes.value("use_agent", false);
  if (target.host.empty()) return Status(Code::Retry, "the node has no address yet");
  if (target.host_key.empty() && target.known_hosts_file.empty() && target.ssh_config.empty()) {
    return Status(Code::Retry, "the node's host key is not known yet");
  }
  return target;
}

std::unique_ptr<Remote> make_remote(const Target& target,
                                    const std::function<void(const std::string&)>& log) {
  std::string why = why_openssh(target);
  if (why.empty()) return std::make_unique<SshRemote>(target);
  if (log) log(fmt::format("{}: using the system's OpenSSH client: {}", target.name(), why));
  return make_openssh_remote(target);
}

Status wait_until_reachable(Remote& remote, const Patience& patience,
                            const std::function<void(const std::string&)>& log) {
  std::chrono::milliseconds pause{10};
  std::string told;
  for (;;) {
    ExecOptions options;
    options.cancelled = patience.cancelled;
    options.deadline = std::chrono::seconds(20);
    auto result = remote.exec(":", options);
    if (result && result->exit_status == 0) return {};
    if (result)
      return {Code::Invalid,
              fmt::format("the login works, but the node cannot run a command: {}", result->err)};
    Status why = result.status();
    if (why.code() != Code::Retry && why.code() != Code::Lost && why.code() != Code::Timeout) return why;
    if (log && why.message() != told) log(why.message());
    told = why.message();
    if (Status s = patience.check(); !s.ok()) {
      return s.code() == Code::Cancelled
                 ? s
                 : Status(Code::Timeout, fmt::format("no login within the time allowed; last: {}", told));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(1000));
  }
}

}  // namespace radl::ssh
