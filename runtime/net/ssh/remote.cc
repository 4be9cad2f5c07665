#include "runtime/net/ssh/remote.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "runtime/base/local_digest.h"
#include "runtime/net/node_path.h"
#include "runtime/net/ssh/open_master.h"
#include "runtime/net/ssh/openssh.h"

namespace radl::ssh {
namespace {

constexpr std::chrono::seconds kConnect{30};
constexpr std::chrono::hours kTransfer{6};
constexpr size_t kSmall = 256 * 1024;  // smaller content goes through standard input: one round trip

constexpr const char* kRefused = "LOGIN REFUSED";

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

Result<std::shared_ptr<Session>> SshRemote::session(const Stop& stop) {
  std::lock_guard lock(mutex_);
  if (other_) return std::shared_ptr<Session>();
  if (session_ && !session_->lost()) return session_;
  session_.reset();
  if (std::string open = open_master(target_, log_); !open.empty()) {
    other_ = make_openssh_remote(target_, open);
    return std::shared_ptr<Session>();
  }
  auto made = Session::open(target_, stop.within(kConnect));
  if (made.ok()) {
    session_ = *made;
    return made;
  }
  Status why = std::move(made).status();
  // No time for the connection is no word on the command.
  if (why.code() == Code::Timeout && stop.check().ok()) return Status(Code::Retry, why.message());
  if (why.code() != Code::Unsupported) return why;
  if (target_.key_file.empty() && !target_.use_agent) {
    return Status(Code::Unsupported, why.message())
        .with_hint("the system's OpenSSH client could serve it, with a key instead of a password");
  }
  if (log_) log_(fmt::format("using the system's OpenSSH client: {}", why.message()));
  other_ = make_openssh_remote(target_);
  return std::shared_ptr<Session>();
}

Remote* SshRemote::other() {
  std::lock_guard lock(mutex_);
  return other_.get();
}

Result<ExecResult> SshRemote::exec(const std::string& shell_command, const ExecOptions& options) {
  auto now = session(options.stop.within(options.deadline));
  if (!now) return now.status();
  return *now ? (*now)->exec(shell_command, options) : other()->exec(shell_command, options);
}

Result<RemoteFile> SshRemote::stat(const std::string& remote_path, const Stop& stop) {
  ExecOptions options;
  options.stop = stop;
  auto result = exec_for_data(*this, stat_command(remote_path), options);
  if (!result) return result.status();
  return parse_stat(remote_path, *result);
}

Result<bool> SshRemote::put(ByteSource& source, const std::string& sha256, const std::string& remote_path,
                            unsigned mode, const Stop& stop) {
  ExecOptions options;
  options.deadline = kTransfer;  // a digest of a large file takes its time
  options.stop = stop;
  auto there = stat(remote_path, stop);
  if (!there && there.status().code() != Code::NotFound) return there.status();
  if (there && there->kind == "file" && there->sha256 == sha256) {
    if (there->mode == mode) return false;
    auto changed = exec(mode_command(remote_path, mode), options);
    if (!changed) return changed.status();
    if (changed->exit_status != 0) return command_failure(*changed, remote_path);
    return false;
  }
  if (there && there->kind == "directory") return invalid(remote_path + ": is a folder on the node");
  std::string part = part_path(remote_path, sha256);
  Status last;
  bool resume = true;
  for (int attempt = 0; attempt < 4; ++attempt) {
    auto now = session(stop);
    if (!now) return now.status();
    if (!*now) return Status(Code::Retry, target_.name() + ": another client has to be used from now on");
    auto sent = sftp_write(**now, source, sftp_path(part), resume, stop.within(kTransfer));
    if (!sent) {
      last = sent.status();
      if (last.code() != Code::Lost) return last;
      continue;  // a new connection goes on where the lost one stopped
    }
    auto done = (*now)->exec(commit_command(part, remote_path, sha256, mode), options);
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

Result<bool> SshRemote::put_file(const std::string& local_path, const std::string& remote_path, unsigned mode,
                                 const Stop& stop) {
  auto now = session(stop);
  if (!now) return now.status();
  if (!*now) return other()->put_file(local_path, remote_path, mode, stop);
  auto digest = local_digest(local_path);
  if (!digest) return digest.status();
  auto source = FileSource::open(local_path);
  if (!source) return source.status();
  return put(**source, *digest, remote_path, mode, stop);
}

Result<bool> SshRemote::put_bytes(std::string_view content, const std::string& remote_path, unsigned mode,
                                  const Stop& stop) {
  auto now = session(stop);
  if (!now) return now.status();
  if (!*now) return other()->put_bytes(content, remote_path, mode, stop);
  std::string digest = sha256_hex(content);
  if (content.size() > kSmall) {
    MemorySource source(content);
    return put(source, digest, remote_path, mode, stop);
  }
  ExecOptions options;
  options.stop = stop;
  options.stdin_bytes = content;
  auto done = exec(store_command(remote_path, digest, mode), options);
  if (!done) return done.status();
  if (done->exit_status != 0) return command_failure(*done, remote_path);
  return !done->out.starts_with("same");
}

Status SshRemote::get_file(const std::string& remote_path, const std::string& local_path, const Stop& stop) {
  for (int attempt = 0;; ++attempt) {
    auto now = session(stop);
    if (!now) return now.status();
    if (!*now) return other()->get_file(remote_path, local_path, stop);
    auto there = stat(remote_path, stop);
    if (!there && there.status().code() == Code::Lost && attempt < 2) continue;
    if (!there) return there.status();
    if (there->kind != "file" && there->kind != "link")
      return invalid(remote_path + ": is no file on the node");
    if (auto own = local_digest(local_path); own && *own == there->sha256) return {};
    Status done = sftp_read(**now, sftp_path(remote_path), local_path, there->sha256, stop.within(kTransfer));
    bool again = done.code() == Code::Lost || done.code() == Code::Corrupt;
    if (!again || attempt == 2) return done;
  }
}

Result<Target> endpoint_of(const nlohmann::json& attributes) {
  auto text = [&](const char* name) {
    auto found = attributes.find(name);
    return found != attributes.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  Target target;
  target.host = text("host");
  target.port = attributes.value("port", 22);
  target.user = text("user");
  target.host_key = text("host_key");
  target.jump = text("jump");
  target.ssh_name = text("ssh_name");
  target.ssh_config = ssh_config_file(text("ssh_config"));
  target.known_hosts_file = text("known_hosts_file");
  target.use_agent = attributes.value("use_agent", false);
  if (target.host.empty()) return Status(Code::Retry, "the node has no address yet");
  return target;
}

Result<Target> target_of(const nlohmann::json& attributes, const KeyPlaces& places) {
  Result<Target> target = endpoint_of(attributes);
  if (!target.ok()) return target;
  if (target->host_key.empty() && target->known_hosts_file.empty() && target->ssh_config.empty()) {
    return Status(Code::Retry, "the node's host key is not known yet");
  }
  auto key = attributes.find("key");
  if (key == attributes.end() || !key->is_string()) return target;
  auto found = find_key(*key, places);
  if (!found) return found.status();
  target->key_file = found->file;
  target->use_agent |= found->in_agent;
  return target;
}

std::unique_ptr<Remote> make_remote(const Target& target,
                                    const std::function<void(const std::string&)>& log) {
  std::string why = why_openssh(target);
  if (why.empty()) return std::make_unique<SshRemote>(target, log);
  if (log) log(fmt::format("{}: using the system's OpenSSH client: {}", target.name(), why));
  return make_openssh_remote(target);
}

bool is_refused_login(const Status& status) {
  return status.code() == Code::Auth && status.message().find(kRefused) != std::string::npos;
}

}  // namespace radl::ssh
