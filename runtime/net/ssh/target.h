// Whom to connect to, and how to prove both sides.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/status.h"
#include "runtime/net/remote.h"

namespace radl::ssh {

struct Target {
  std::string host;
  int port = 22;
  std::string user;
  std::string host_key;  // the node's OpenSSH public key line, known before the first connect; never empty
  std::string key_file;  // private key, OpenSSH format; empty: agent or password
  std::string password;
  bool use_agent = false;
  std::string jump;               // user@host:port, through the system's OpenSSH client
  std::string ssh_config;         // an ssh_config file to honour: also through the system's client
  std::string known_hosts_file;   // of the jump host, and in place of host_key; empty: the user's own
  std::string control_directory;  // private folder for the system client's master sockets

  std::string name() const { return user + "@" + host + ":" + std::to_string(port); }
};

// The target that a node's attributes describe (host, port, user, host_key, private_key_path and optionally
// password, jump, ssh_config, known_hosts_file). Invalid names what is missing.
Result<Target> target_of(const nlohmann::json& attributes);

// When to give up.
struct Patience {
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::function<bool()> cancelled;

  // Timeout or Cancelled, or ok while there is time.
  Status check() const {
    if (cancelled && cancelled()) return {Code::Cancelled, "cancelled"};
    if (std::chrono::steady_clock::now() >= deadline) return {Code::Timeout, "deadline passed"};
    return {};
  }
};

// Why libssh2 cannot serve this target and the system's OpenSSH client must; empty when it can.
std::string why_openssh(const Target& target);

// A machine behind SSH; connects on first use, keeps one session for all threads, and connects again after a
// lost one. `log` is told in one line when the system's OpenSSH client is used, and why. Errors: Auth for a
// host key that is not the pinned one, or credentials that are refused; Retry for a port that does not
// answer; Lost when the connection went away while a command ran.
std::unique_ptr<Remote> make_remote(const Target& target,
                                    const std::function<void(const std::string&)>& log = {});

// Tries until a login works. Goes on while the port does not answer; a host key mismatch or refused
// credentials end it at once.
Status wait_until_reachable(Remote& remote, const Patience& patience,
                            const std::function<void(const std::string&)>& log = {});

}  // namespace radl::ssh
