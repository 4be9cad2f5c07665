// Where in EC2 a network and a node go: VPC, subnet, zone, and what of it the file says. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::ec2 {

// A network's provider_id: "vpc-1", "subnet-1", "vpc-1.subnet-2" (as the Infrastructure Manager writes it);
// of several, 'eu-west-1/vpc-1, us-east-1/vpc-2', that of the region. Empty where the region's default VPC is
// meant; a VPC that is only known by one of its subnets is called as that. Invalid: something else, or
// nothing for this region.
struct NetworkPlace {
  std::string vpc, subnet;
};
Result<NetworkPlace> place_of(const ir::Network& network, const std::string& region);

// The VPC of each network by its name: its own, or, where it names none, that of the networks that machines
// of it are in as well. "": the default VPC.
using NetworkVpcs = std::map<std::string, std::string>;
Result<NetworkVpcs> vpcs_of(const DesignInput& input, const std::string& region);

// Of a node: by the first of its networks that says something; Invalid where two of them say different VPCs.
struct NodePlace {
  std::string vpc, subnet;
  // In the order in which they are tried; the region itself: any that is not named. Empty: any.
  std::vector<std::string> zones;
  // Of its networks, with their names: a machine has one interface.
  std::vector<std::string> subnets_unused;
  bool in_public_network = false;
};
// `vpcs`: what is known of all networks; by themselves some say nothing.
Result<NodePlace> place_of(const ir::Node& node, const DesignInput& input, const CloudId& cloud,
                           const NetworkVpcs& vpcs = {});

// "eu-west-1" of "eu-west-1b" and of itself, "us-west-2" of the local zone "us-west-2-lax-1a".
std::string region_of_zone(const std::string& zone);

}  // namespace radl::ec2
