// A network of an infrastructure's own, for isolated nodes: root, `ip` (iproute2) and Linux namespaces.
//
//   this machine                    namespace radl-<hash>           each node's namespace
//   radl-<hash>  10.x.y.1/22 =veth= up0 - bridge br0 - v<n>  =veth= eth0  10.x.y.n/22
//                                                                   tap0  the way out: slirp4netns
//
// Nodes reach each other and this machine reaches them. Nothing of the machine's routing or firewall changes:
// the way out is a user-mode network stack, one process a node. What a node has of it goes with its
// processes; namespace and link carry the infrastructure's hash, so that they are found again after a crash.
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

// Kept in <work>/network.json from before anything of it exists until all of it is gone. All nodes of an
// infrastructure have the same kind of network, or they could not reach each other.
struct Network {
  std::string name;    // of the namespace and of this computer's link; empty: this computer's loopback
  std::string subnet;  // "10.x.y.0", 22 bits
  Egress egress = Egress::Open;

  bool own() const { return !name.empty(); }
  std::string cidr() const { return own() ? subnet + "/22" : "127.0.0.0/8"; }
};

// Empty when such networks can be made here; else why not, in one line. Tried for real, once in a run.
// Once the context's stop is asked the answer means nothing, and is not kept.
std::string why_no_network(Egress egress, const Context& context);

Result<std::optional<Network>> load_network(const std::string& work_directory);
Status save_network(const std::string& work_directory, const Network& network);
// One with a subnet that this machine has no route to. Nothing is made or written yet.
Result<Network> new_network(const std::string& infrastructure, Egress egress);
// The one that a node was made in.
Network network_of(const Record& record);
// Makes what is missing of it: all of it at first and after a reboot, the rest after a crash.
Status raise_network(const Network& network, const Context& context);
// Ends it and forgets the record; ok when there is none.
Status remove_network(const Context& context);

// An address that no other node has.
Result<std::string> network_address(const Network& network, const std::vector<std::string>& taken);
// etc/join: gives the process that runs it the node's network and becomes etc/boot in further namespaces.
Status write_join_script(const NodeDirectory& node, const Record& record);
// The nameserver that a node asks, where it is not this computer's.
constexpr const char* kEgressNameserver = "10.0.2.3";

}  // namespace radl::local
