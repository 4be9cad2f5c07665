// A network of an infrastructure's own, for isolated nodes: root, `ip` (iproute2) and Linux namespaces.
//
//   this machine                    namespace radl-<hash>           each node's namespace
//   radl-<hash>  10.x.y.1/22 =veth= up0 - bridge br0 - v<n>  =veth= eth0  10.x.y.n/22
//                                                                   tap0  the way out: slirp4netns
//
// Nodes and this machine can reach each other. The machine's routing and firewall do not change: outbound
// traffic uses a user-mode network stack, one process per node, which ends with the node's processes.
// Namespace and link carry the infrastructure's hash, so that they are found after a crash.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/stop.h"
#include "runtime/base/context.h"
#include "runtime/clouds/local/node_directory.h"

namespace radl::local {

enum class Egress { Open, Closed };

// Stored in <work>/network.json from before the network's creation until its complete removal. All nodes of
// an infrastructure use the same kind of network, so that they can reach each other.
struct Network {
  std::string name;    // of the namespace and of this computer's link; empty: the loopback device
  std::string subnet;  // "10.x.y.0", 22 bits
  Egress egress = Egress::Open;

  bool own() const { return !name.empty(); }
  std::string cidr() const { return own() ? subnet + "/22" : "127.0.0.0/8"; }
};

// Empty if such networks can be created here; else the reason in one line. Tested by a real attempt, once per
// run. If the context's stop is requested, the result is meaningless and not cached.
std::string why_no_network(Egress egress, const Context& context);

Result<std::optional<Network>> load_network(const std::string& work_directory);
Status save_network(const std::string& work_directory, const Network& network);
// Chooses a subnet to which this machine has no route. Creates and writes nothing.
Result<Network> new_network(const std::string& infrastructure, Egress egress);
// The network in which a node was created.
Network network_of(const Record& record);
// Creates missing parts: everything at first and after a reboot, the rest after a crash.
Status raise_network(const Network& network, const Context& context);
// Removes the network and its record; succeeds if there is none.
Status remove_network(const Context& context);

// An address that no other node uses.
Result<std::string> network_address(const Network& network, const std::vector<std::string>& taken);
// Writes etc/join, which gives its process the node's network and becomes etc/boot in further namespaces.
Status write_join_script(const NodeDirectory& node, const Record& record);
// The nameserver of a node, unless it is this computer's.
constexpr const char* kEgressNameserver = "10.0.2.3";

}  // namespace radl::local
