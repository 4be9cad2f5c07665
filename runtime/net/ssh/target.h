// Whom to connect to, and how to prove both sides.
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

// What a state has in place of a file of one person's: the configuration that `ssh` reads for this user.
inline constexpr const char* kUsersSshConfig = "~/.ssh/config";
// That configuration: of RADL_SSH_CONFIG, else ~/.ssh/config, else the system's; empty: there is none.
std::string ssh_config_of_user(const Environment& environment);
// Another path as it is.
std::string ssh_config_file(const Environment& environment, const std::string& path_or_users);

struct Target {
  std::string host;
  int port = 22;
  std::string user;
  std::string host_key;  // the node's OpenSSH public key line, known before the first connect; never empty
  std::string key_file;  // private key, OpenSSH format; empty: agent or password
  std::string password;
  bool use_agent = false;
  std::string jump;  // user@host:port, through the system's OpenSSH client
  // An ssh_config file to honour, by the system's client too; kUsersSshConfig: that of whoever runs radlc.
  std::string ssh_config;
  std::string known_hosts_file;  // of the jump host, and in place of host_key; empty: the user's own
  // What ~/.ssh/config calls it: a connection of that name that is open is used (open_master.h).
  std::string ssh_name;
  std::string control_directory;  // private folder for the system client's master sockets
  // A server that is silent for this long, although it was asked for a sign of life, is given up (Lost).
  std::chrono::seconds answer_within{45};
  Environment environment;  // of the user who connects: the agent, what the system's client reads

  std::string name() const { return user + "@" + host + ":" + std::to_string(port); }
};

// The target that a node's attributes describe (host, port, user, host_key, and optionally jump, ssh_config,
// known_hosts_file, use_agent), with the private key that "key" names, a fingerprint (SHA256:...). Retry
// names what is missing; NotFound says where the key was looked for.
Result<Target> target_of(const nlohmann::json& attributes, const KeyPlaces& places);

// The same without a host key or a key of ours: where it is, and not yet who it is.
Result<Target> endpoint_of(const nlohmann::json& attributes, const Environment& environment);
// The host key that answers there, as an OpenSSH public key line: ed25519 where there is one. Proves nothing.
// Retry: nobody answers with SSH (yet).
Result<std::string> shown_host_key(const Target& endpoint, const Stop& stop);

// Why libssh2 cannot serve this target and the system's OpenSSH client must; empty when it can.
std::string why_openssh(const Target& target);

// A machine behind SSH; connects on first use, keeps one session for all threads, and connects again after a
// lost one. `log` is called with one line when the system's OpenSSH client is used, and why: at once, or when
// the server turns out to take only what libssh2 does not have. Errors: Auth for a host key that is not the
// pinned one, or credentials that are refused; Retry for a port that does not answer; Lost when the
// connection went away, or the server stopped answering, while a command ran.
std::unique_ptr<Remote> make_remote(const Target& target,
                                    const std::function<void(const std::string&)>& log = {});

// True for credentials that a server refused which had shown the right host key.
bool is_refused_login(const Status& status);

}  // namespace radl::ssh
