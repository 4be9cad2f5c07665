// From nodes to what OpenStack must make for them. Pure.
#pragma once

#include <string>

#include "runtime/clouds/cloud.h"

namespace radl::openstack {

// What a design needs to know of the credentials: no secret.
struct Place {
  CloudId cloud;
  std::string host;      // of Keystone, in lower case; "": not known
  std::string egi_site;  // "": the credentials are for none
};

Status check_node(const Place& place, const ir::Node& node, const DesignInput& input);
Result<Design> design_resources(const Place& place, const DesignInput& input);

// Whether the file's network becomes one of OpenStack's: a public one is the cloud's external one.
bool is_made(const ir::Network& network);
// The region and the zones of availability_zone = 'REGION/ZONE' or 'ZONE', of several in their order.
std::string region_named(const ir::Node& node);
std::vector<std::string> zones_named(const ir::Node& node);

// Of a network that is made, where the file does not say.
inline constexpr const char* kUsualRange = "10.*.*.0/24";

// The public address that the file names for a node, which is there already; "": none.
std::string fixed_public_ip(const ir::Node& node, const ir::Program& program);

}  // namespace radl::openstack
