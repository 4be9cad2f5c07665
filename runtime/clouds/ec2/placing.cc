#include "runtime/clouds/ec2/placing.h"

#include <fmt/format.h>

#include <cctype>

#include "common/text.h"
#include "runtime/clouds/ec2/design.h"
#include "runtime/clouds/ec2/images.h"
#include "runtime/clouds/fitting.h"
#include "runtime/clouds/naming.h"

namespace radl::ec2 {

std::string region_of_zone(const std::string& zone) {
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
  if (!network.features.contains("provider_id") || !network.features["provider_id"].is_string()) return place;
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
  return place;
}

Result<NodePlace> place_of(const ir::Node& node, const DesignInput& input, const CloudId& cloud) {
  NodePlace place;
  for (const ir::Network* network : networks_of(input, node)) {
    place.in_public_network |= network->is_public;
    auto here = place_of(*network, cloud.region);
    if (!here.ok()) return here.status();
    if (!place.vpc.empty() && !here->vpc.empty() && place.vpc != here->vpc)
      return invalid(
          fmt::format("{}: its networks are in two VPCs, {} and {}", node.address, place.vpc, here->vpc));
    if (place.vpc.empty()) place.vpc = here->vpc;
    if (place.subnet.empty()) place.subnet = here->subnet;
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
