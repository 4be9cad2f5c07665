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
  const std::string zone = text_wanted(node, "availability_zone");
  return zone.empty() ? image_region(node) : region_of_zone(zone);
}

Result<NetworkPlace> place_of(const ir::Network& network) {
  NetworkPlace place;
  if (!network.features.contains("provider_id") || !network.features["provider_id"].is_string()) return place;
  const std::string id = network.features["provider_id"].get<std::string>();
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
    auto here = place_of(*network);
    if (!here.ok()) return here.status();
    if (!place.vpc.empty() && !here->vpc.empty() && place.vpc != here->vpc)
      return invalid(
          fmt::format("{}: its networks are in two VPCs, {} and {}", node.address, place.vpc, here->vpc));
    if (place.vpc.empty()) place.vpc = here->vpc;
    if (place.subnet.empty()) place.subnet = here->subnet;
  }
  const std::string zone = text_wanted(node, "availability_zone");
  if (zone.empty()) return place;
  const std::string region = region_of_zone(zone);
  if (region != cloud.region)
    return invalid(fmt::format("{}: availability_zone = '{}' is in region {}, not in {}", node.address, zone,
                               region, cloud.region));
  if (zone != region) place.zone = zone;
  return place;
}

}  // namespace radl::ec2
