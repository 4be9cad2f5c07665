// The machine of a node: ssh://[USER@]NAME[:PORT], where NAME is an address or a name of ~/.ssh/config.
#pragma once

#include <string>

#include "common/status.h"
#include "compiler/ir/ir.h"

namespace radl::hosts {

struct Machine {
  std::string user;  // empty: from ~/.ssh/config
  std::string host;
  int port = 0;  // 0: from ~/.ssh/config

  std::string text() const;       // "ssh://user@gpu1:2222": its ID
  std::string name() const;       // "gpu1", "gpu1:2222": for display
  std::string ssh_words() const;  // "-p 2222 user@gpu1": arguments for ssh
};

// Invalid: malformed, or contains characters with a meaning in shells or configuration files.
Result<Machine> parse_machine(const std::string& text);

// From `disk.0.image.url` (of a list, by the node's ordinal), else `net_interface.0.ip`. The login may also
// come from `disk.0.os.credentials.username`. Invalid names the feature.
Result<Machine> machine_of(const ir::Node& node);
bool names_a_machine(const ir::Node& node);  // by an address of that form

}  // namespace radl::hosts
