// The existing networks, and which of them a file means.
#pragma once

#include <string>
#include <vector>

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {

// All networks visible to the project; fetched once.
Result<std::vector<NetworkNow>> networks_there(Asking& call);

// The network of this name or ID. NotFound lists the existing ones.
Result<NetworkNow> network_named(Asking& call, const std::string& name);
// Invalid: machines in it would have no address that radlc can reach.
Status has_ipv4(const NetworkNow& network);
// The default network of machines: the project's only own one, else the only shared one. Invalid: there is
// none, or several.
Result<NetworkNow> default_network(Asking& call);
// The source of floating addresses: the network of that name, or the only external one.
Result<NetworkNow> external_network(Asking& call, const std::string& name);

// An existing floating address of the project. NotFound lists them.
struct FloatingNow {
  std::string id, address, port, server;  // "": unused
  std::string holder() const { return server.empty() ? "port " + port : "server " + server; }
};
Result<FloatingNow> floating_address(Asking& call, const std::string& address);

}  // namespace radl::openstack
