// How the system's OpenSSH client is called for a target. Internal to runtime/net/ssh.
#pragma once

#include <string>
#include <vector>

#include "runtime/net/ssh/target.h"

namespace radl::ssh {

// What the node is called in the known_hosts file that holds its pinned key alone: its own name may be one
// that an ssh_config file explains.
inline constexpr const char* kPinned = "radl-node";

struct ClientFiles {
  std::string folder;  // private: known_hosts, log
  std::string socket;  // of the connection that is held open
};

// `options` stand before the name of the target; `remote_command` may be empty.
std::vector<std::string> client_words(const Target& target, const ClientFiles& files,
                                      const std::vector<std::string>& options,
                                      const std::string& remote_command);

}  // namespace radl::ssh
