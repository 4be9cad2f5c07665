// How a machine is reached: its name as OpenSSH resolves it (ssh -G: ~/.ssh/config, jump hosts), and the host
// key that the user's known_hosts holds. Nobody's key is accepted on sight.
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
  std::string host;  // behind a jump host: the name as it was written, which `ssh_config` explains
  int port = 22;
  std::string user;
  std::string host_key;    // OpenSSH public key line
  std::string ssh_config;  // set behind a jump host (ProxyJump, ProxyCommand)
};

// Asks no network. Invalid: OpenSSH cannot read its configuration. Auth: the host key is not known.
Result<Way> find_way(const Environment& environment, const Machine& machine, const std::string& ssh_config,
                     const Stop& stop);

// With the infrastructure's own key.
ssh::Target own_target(const Environment& environment, const Way& way, const std::string& key_file);

// What a user has to log in with, besides the keys, agent and configuration of OpenSSH.
struct Credentials {
  std::string password, private_key;
  bool none() const { return password.empty() && private_key.empty(); }
};
// {"password": {"$secret": NAME}, "private_key": ...}: their values. NotFound names one that nobody gave.
Result<Credentials> credentials_of(const nlohmann::json& references, const ir::Secrets* secrets);

// A connection as the user would make it; what it needs of files is gone with it.
class UserLogin {
 public:
  // `folder` is private. Unsupported: a password behind a jump host.
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
