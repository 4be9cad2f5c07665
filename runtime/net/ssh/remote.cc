#include "runtime/net/ssh/remote.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/net/ssh/open_master.h"
#include "runtime/net/ssh/openssh.h"

namespace radl::ssh {
namespace {

constexpr std::chrono::seconds kConnect{30};
constexpr const char* kRefused = "LOGIN REFUSED";

}  // namespace

Result<std::shared_ptr<Connection>> SshRemote::connection(const Stop& stop) {
  std::lock_guard lock(mutex_);
  if (other_) return std::shared_ptr<Connection>();
  if (connection_ && !connection_->lost()) return connection_;
  connection_.reset();
  if (std::string open = open_master(target_, log_); !open.empty()) {
    other_ = make_openssh_remote(target_, open);
    return std::shared_ptr<Connection>();
  }
  auto made = Connection::open(target_, stop.within(kConnect));
  if (made.ok()) {
    connection_ = *made;
    return made;
  }
  Status why = std::move(made).status();
  // A timeout of the connection says nothing about the command.
  if (why.code() == Code::Timeout && stop.check().ok()) return Status(Code::Retry, why.message());
  if (why.code() != Code::Unsupported) return why;
  if (target_.key_file.empty() && !target_.use_agent) {
    return Status(Code::Unsupported, why.message())
        .with_hint("the system's OpenSSH client could serve it, with a key instead of a password");
  }
  if (log_) log_(fmt::format("using the system's OpenSSH client: {}", why.message()));
  other_ = make_openssh_remote(target_);
  return std::shared_ptr<Connection>();
}

Remote* SshRemote::other() {
  std::lock_guard lock(mutex_);
  return other_.get();
}

Result<ExecResult> SshRemote::exec(const std::string& shell_command, const ExecOptions& options) {
  auto now = connection(options.stop.within(options.deadline));
  if (!now) return now.status();
  return *now ? (*now)->exec(shell_command, options) : other()->exec(shell_command, options);
}

Result<Target> endpoint_of(const nlohmann::json& attributes, const Environment& environment) {
  auto text = [&](const char* name) {
    auto found = attributes.find(name);
    return found != attributes.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  Target target;
  target.environment = environment;
  target.host = text("host");
  target.port = attributes.value("port", 22);
  target.user = text("user");
  target.host_key = text("host_key");
  target.jump = text("jump");
  target.ssh_name = text("ssh_name");
  target.ssh_config = ssh_config_file(environment, text("ssh_config"));
  target.known_hosts_file = text("known_hosts_file");
  target.use_agent = attributes.value("use_agent", false);
  if (target.host.empty()) return Status(Code::Retry, "the node has no address yet");
  return target;
}

Result<Target> target_of(const nlohmann::json& attributes, const KeyPlaces& places) {
  Result<Target> target = endpoint_of(attributes, places.environment);
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
