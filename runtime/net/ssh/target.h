// Identifies a machine to connect to, and how both sides authenticate.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/status.h"
#include "common/stop.h"
#include "runtime/net/remote.h"
#include "runtime/net/ssh/key_places.h"

namespace radl::ssh {

// Replaces a personal file in a state: the configuration that `ssh` reads for the current user.
inline constexpr const char* kUsersSshConfig = "~/.ssh/config";
// The user's configuration: RADL_SSH_CONFIG, else ~/.ssh/config, else the system's; empty: none.
std::string ssh_config_of_user(const Environment& environment);
// Returns other paths unchanged.
std::string ssh_config_file(const Environment& environment, const std::string& path_or_users);

struct Target {
  std::string host;
  int port = 22;
  std::string user;
  std::string host_key;  // the node's OpenSSH public key line, known before the first connection; never empty
  std::string key_file;  // private key, OpenSSH format; empty: agent or password
  std::string password;
  bool use_agent = false;
  std::string jump;  // user@host:port, through the system's OpenSSH client
  // An ssh_config file to use, also by the system's client; kUsersSshConfig: the current user's.
  std::string ssh_config;
  std::string known_hosts_file;  // for the jump host, and instead of host_key; empty: the user's own
  // Its name in ~/.ssh/config: an open connection of that name is used (open_master.h).
  std::string ssh_name;
  std::string control_directory;  // private folder for the system client's master sockets
  // A server that stays silent for this long despite a probe is given up (Lost).
  std::chrono::seconds answer_within{45};
  Environment environment;  // of the connecting user: the agent, and the system client's files

  std::string name() const { return user + "@" + host + ":" + std::to_string(port); }
};

// The target described by a node's attributes (host, port, user, host_key, and optionally jump, ssh_config,
// known_hosts_file, use_agent), with the private key whose fingerprint (SHA256:...) is "key". Retry names
// what is missing. NotFound lists the searched places.
Result<Target> target_of(const nlohmann::json& attributes, const KeyPlaces& places);

// Same without a host key or login key: the location, but not the identity.
Result<Target> endpoint_of(const nlohmann::json& attributes, const Environment& environment);
// The host key shown there, as an OpenSSH public key line; ed25519 if available. Proves nothing. Retry: no
// SSH response (yet).
Result<std::string> shown_host_key(const Target& endpoint, const Stop& stop);

// Why libssh2 cannot serve this target and the system's OpenSSH client must; empty if it can.
std::string why_openssh(const Target& target);

// A machine behind SSH. Connects at first use, shares one session among all threads, and reconnects after a
// loss. `log` receives one line when the system's OpenSSH client is used, and why: immediately, or when the
// server supports only what libssh2 lacks. Errors: Auth (a host key other than the pinned one, or rejected
// credentials), Retry (the port does not respond), Lost (the connection broke, or the server stopped
// responding, during a command).
std::unique_ptr<Remote> make_remote(const Target& target,
                                    const std::function<void(const std::string&)>& log = {});

// True if a server rejected the credentials after it showed the right host key.
bool is_refused_login(const Status& status);

}  // namespace radl::ssh
