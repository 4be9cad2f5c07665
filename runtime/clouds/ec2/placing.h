// The location of a network or node in EC2: VPC, subnet and zone, as far as the file names them. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::ec2 {

// Parses a network's provider_id: "vpc-1", "subnet-1", or "vpc-1.subnet-2" (the Infrastructure Manager's
// form); of several, 'eu-west-1/vpc-1, us-east-1/vpc-2', the one for the region. Empty: the region's default
// VPC. A VPC known only by a subnet is named by that subnet. Invalid: malformed, or no entry for this
// region.
struct NetworkPlace {
  std::string vpc, subnet;
};
Result<NetworkPlace> place_of(const ir::Network& network, const std::string& region);

// The VPC of each network by name: its own or, if it names none, that of other networks of its machines. "":
// the default VPC.
using NetworkVpcs = std::map<std::string, std::string>;
Result<NetworkVpcs> vpcs_of(const DesignInput& input, const std::string& region);

// A node's location, by the first of its networks that names one. Invalid: two name different VPCs.
struct NodePlace {
  std::string vpc, subnet;
  // In the order of attempts; the region itself means any zone not named. Empty: any.
  std::vector<std::string> zones;
  // Subnets of further networks, with their names: a machine has only one interface.
  std::vector<std::string> subnets_unused;
  bool in_public_network = false;
};
// `vpcs`: VPCs of all networks; some networks name none themselves.
Result<NodePlace> place_of(const ir::Node& node, const DesignInput& input, const CloudId& cloud,
                           const NetworkVpcs& vpcs = {});

// "eu-west-1" for "eu-west-1b" and for itself; "us-west-2" for the local zone "us-west-2-lax-1a".
std::string region_of_zone(const std::string& zone);

}  // namespace radl::ec2
