// The networks that there are: which of them a file means.
#pragma once

#include <string>
#include <vector>

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {

// All that the project can see; asked once.
Result<std::vector<NetworkNow>> networks_there(Asking& call);

// The network of this name or id. NotFound names what there is.
Result<NetworkNow> network_named(Asking& call, const std::string& name);
// Invalid: machines in it would have no address that radlc reaches.
Status has_ipv4(const NetworkNow& network);
// The one that machines are in where the file names none: the project's only one of its own, else the only
// one that is shared. Invalid: there is none, or more than one.
Result<NetworkNow> default_network(Asking& call);
// Where floating addresses come from: the network of that name, or the only external one.
Result<NetworkNow> external_network(Asking& call, const std::string& name);

// A floating address that the project has already. NotFound names those that it has.
struct FloatingNow {
  std::string id, address, port, server;  // "": it is free
  std::string holder() const { return server.empty() ? "port " + port : "server " + server; }
};
Result<FloatingNow> floating_address(Asking& call, const std::string& address);

}  // namespace radl::openstack
