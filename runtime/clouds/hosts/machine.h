// Which machine a node is: ssh://[USER@]NAME[:PORT], NAME an address or a name of ~/.ssh/config.
#pragma once

#include <string>

#include "common/status.h"
#include "compiler/ir/ir.h"

namespace radl::hosts {

struct Machine {
  std::string user;  // empty: as ~/.ssh/config says
  std::string host;
  int port = 0;  // 0: as ~/.ssh/config says

  std::string text() const;       // "ssh://user@gpu1:2222": its id
  std::string name() const;       // "gpu1", "gpu1:2222": for people
  std::string ssh_words() const;  // "-p 2222 user@gpu1": what a user gives to ssh
};

// Invalid: it is no such address, or holds what a shell or a configuration file would understand.
Result<Machine> parse_machine(const std::string& text);

// `disk.0.image.url`, of a list that of the node's ordinal; otherwise `net_interface.0.ip`. The login's name
// may be `disk.0.os.credentials.username` too. Invalid names the feature.
Result<Machine> machine_of(const ir::Node& node);
bool names_a_machine(const ir::Node& node);  // by an address of that form

}  // namespace radl::hosts
