// Command lines of the system's OpenSSH client for a target. Internal to runtime/net/ssh.
#pragma once

#include <string>
#include <vector>

#include "runtime/net/ssh/target.h"

namespace radl::ssh {

// The node's name in the known_hosts file with its pinned key. Its own name may be one that an ssh_config
// file defines.
inline constexpr const char* kPinned = "radl-node";

struct ClientFiles {
  std::string folder;  // private: known_hosts, log
  std::string socket;  // of the master connection
};

// `options` precede the target's name; `remote_command` may be empty.
std::vector<std::string> client_words(const Target& target, const ClientFiles& files,
                                      const std::vector<std::string>& options,
                                      const std::string& remote_command);

}  // namespace radl::ssh
