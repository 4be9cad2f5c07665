// How a machine is reached: its name as resolved by OpenSSH (ssh -G: ~/.ssh/config, jump hosts), and its host
// key from the user's known_hosts. Unknown host keys are never accepted.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "common/status.h"
#include "runtime/base/context.h"
#include "runtime/clouds/hosts/machine.h"
#include "runtime/net/ssh/target.h"

namespace radl::hosts {

struct Way {
  std::string host;  // behind a jump host: the name as written, resolved by `ssh_config`
  int port = 22;
  std::string user;
  std::string host_key;    // OpenSSH public key line
  std::string ssh_config;  // set behind a jump host (ProxyJump, ProxyCommand)
};

// Offline. Invalid: OpenSSH cannot read its configuration. Auth: unknown host key.
Result<Way> find_way(const Environment& environment, const Machine& machine, const std::string& ssh_config,
                     const Stop& stop);

// Uses the infrastructure's own key.
ssh::Target own_target(const Environment& environment, const Way& way, const std::string& key_file);

// Login credentials of a user, besides OpenSSH's keys, agent and configuration.
struct Credentials {
  std::string password, private_key;
  bool none() const { return password.empty() && private_key.empty(); }
};
// Resolves {"password": {"$secret": NAME}, "private_key": ...}. NotFound names a missing secret.
Result<Credentials> credentials_of(const nlohmann::json& references, const ir::Secrets* secrets);

// A connection as the user would make it. Removes the files it needs on destruction.
class UserLogin {
 public:
  // `folder` must be private. Unsupported: a password with a jump host.
  static Result<std::unique_ptr<UserLogin>> make(const Environment& environment, const Machine& machine,
                                                 const Way& way, const Credentials& credentials,
                                                 const std::string& ssh_config, const std::string& folder);
  ~UserLogin();
  Remote& remote() { return *remote_; }

 private:
  UserLogin() = default;
  std::unique_ptr<Remote> remote_;
  std::string key_file_;
};

}  // namespace radl::hosts
