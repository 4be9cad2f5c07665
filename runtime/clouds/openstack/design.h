// Maps nodes to the resources that OpenStack must create. Pure.
#pragma once

#include <string>

#include "runtime/clouds/cloud.h"

namespace radl::openstack {

// The facts about credentials that a design needs; not secret.
struct Place {
  CloudId cloud;
  std::string host;      // of Keystone, in lower case; "": unknown
  std::string egi_site;  // "": the credentials are not for an EGI site
};

Status check_node(const Place& place, const ir::Node& node, const DesignInput& input);
Result<Design> design_resources(const Place& place, const DesignInput& input);

// True if the file's network is created in OpenStack; a public one is the cloud's external network.
bool is_made(const ir::Network& network);
// The region and zones in availability_zone = 'REGION/ZONE' or 'ZONE'; of several, in order.
std::string region_named(const ir::Node& node);
std::vector<std::string> zones_named(const ir::Node& node);

// Default range of a created network.
inline constexpr const char* kUsualRange = "10.*.*.0/24";

// The existing public address that the file names for a node; "": none.
std::string fixed_public_ip(const ir::Node& node, const ir::Program& program);

}  // namespace radl::openstack
