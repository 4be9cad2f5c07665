#include "runtime/clouds/ec2/placing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/text.h"
#include "runtime/clouds/ec2/design.h"
#include "runtime/clouds/ec2/images.h"
#include "runtime/clouds/fitting.h"
#include "runtime/clouds/naming.h"

namespace radl::ec2 {

// Source: Amazon EC2 User Guide, "Regions and Zones". A region's name ends with its first number; the suffix
// of local zones and Wavelength zones begins with '-' or a letter.
std::string region_of_zone(const std::string& zone) {
  for (size_t at = zone.find('-'); at != zone.npos; at = zone.find('-', at + 1)) {
    const size_t digits = at + 1, end = std::min(zone.find_first_not_of("0123456789", digits), zone.size());
    if (end > digits && end < zone.size() && zone[end] == '-') return zone.substr(0, end);
    if (end > digits) break;
  }
  if (zone.size() < 2 || !std::isalpha(static_cast<unsigned char>(zone.back()))) return zone;
  return std::isdigit(static_cast<unsigned char>(zone[zone.size() - 2])) ? zone.substr(0, zone.size() - 1)
                                                                         : zone;
}

std::string region_named(const ir::Node& node) {
  const std::vector<std::string> zones = texts_wanted(node, "availability_zone");
  return zones.empty() ? image_region(node) : region_of_zone(zones.front());
}

namespace {

// Of 'REGION/ID, REGION/ID, ID' the first for this region.
Result<std::string> id_in(const ir::Network& network, const std::string& ids, const std::string& region) {
  for (std::string_view one : split(ids, ',')) {
    const std::string_view id = trim(one);
    const size_t slash = id.find('/');
    if (slash == id.npos) return std::string(id);
    if (id.substr(0, slash) == region) return std::string(id.substr(slash + 1));
  }
  return invalid(
      fmt::format("network {}: provider_id = '{}' names nothing in region {}", network.name, ids, region));
}

}  // namespace

Result<NetworkPlace> place_of(const ir::Network& network, const std::string& region) {
  NetworkPlace place;
  if (!network.features->contains("provider_id") || !network.features["provider_id"].is_string())
    return place;
  auto found = id_in(network, network.features["provider_id"].get<std::string>(), region);
  if (!found.ok()) return found.status();
  const std::string id = *found;
  for (std::string_view part : split(id, '.')) {
    if (part.starts_with("vpc-"))
      place.vpc = part;
    else if (part.starts_with("subnet-"))
      place.subnet = part;
    else
      return invalid(
          fmt::format("network {}: provider_id = '{}': must be 'vpc-ID', 'subnet-ID' or "
                      "'vpc-ID.subnet-ID' in EC2",
                      network.name, id));
  }
  if (place.vpc.empty()) place.vpc = place.subnet;
  return place;
}

namespace {

bool is_vpc(const std::string& id) { return id.starts_with("vpc-"); }

// Of two equivalent ones, the one that is a VPC's own name.
const std::string& either(const std::string& one, const std::string& other) {
  return one.empty() || (is_vpc(other) && !is_vpc(one)) ? other : one;
}

// Hands what one of them knows to the others; whether there was anything new.
bool share(const std::vector<const ir::Network*>& networks, NetworkVpcs& vpcs) {
  std::string known;
  for (const ir::Network* network : networks) known = either(known, vpcs[network->name]);
  bool news = false;
  for (const ir::Network* network : networks) {
    std::string& vpc = vpcs[network->name];
    if (!vpc.empty() || known.empty()) continue;
    vpc = known;
    news = true;
  }
  return news;
}

}  // namespace

Result<NetworkVpcs> vpcs_of(const DesignInput& input, const std::string& region) {
  NetworkVpcs vpcs;
  bool news = false;
  for (const ir::Network* network : networks_to_make(input)) {
    auto place = place_of(*network, region);
    if (!place.ok()) return place.status();
    news |= !place->vpc.empty();
    vpcs[network->name] = place->vpc;
  }
  while (news) {
    news = false;
    for (const ir::Node* node : input.nodes) news |= share(networks_of(input, *node), vpcs);
  }
  return vpcs;
}

Result<NodePlace> place_of(const ir::Node& node, const DesignInput& input, const CloudId& cloud,
                           const NetworkVpcs& vpcs) {
  NodePlace place;
  for (const ir::Network* network : networks_of(input, node)) {
    place.in_public_network |= network->is_public;
    auto here = place_of(*network, cloud.region);
    if (!here.ok()) return here.status();
    if (auto known = vpcs.find(network->name); known != vpcs.end() && here->vpc.empty())
      here->vpc = known->second;
    if (is_vpc(place.vpc) && is_vpc(here->vpc) && place.vpc != here->vpc)
      return invalid(
          fmt::format("{}: its networks are in two VPCs, {} and {}", node.address, place.vpc, here->vpc));
    place.vpc = std::string(either(place.vpc, here->vpc));
    if (place.subnet.empty())
      place.subnet = here->subnet;
    else if (!here->subnet.empty() && here->subnet != place.subnet)
      place.subnets_unused.push_back(here->subnet + " of " + network->name);
  }
  place.zones = texts_wanted(node, "availability_zone");
  for (const std::string& zone : place.zones) {
    const std::string region = region_of_zone(zone);
    if (region != cloud.region)
      return invalid(fmt::format("{}: availability_zone = '{}' is in region {}, not in {}", node.address,
                                 zone, region, cloud.region));
  }
  if (place.zones == std::vector<std::string>{cloud.region}) place.zones.clear();
  return place;
}

}  // namespace radl::ec2
