#include "runtime/clouds/azure/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/text.h"
#include "runtime/clouds/azure/api.h"
#include "runtime/clouds/fitting.h"

namespace radl::azure {
namespace {

bool is_zone(const std::string& text) { return text == "1" || text == "2" || text == "3"; }

struct Named {
  std::string region, zone;
};

Named parsed_place(const std::string& text) {
  const std::string place = to_lower(text);
  if (is_zone(place)) return {"", place};
  const size_t cut = place.find_last_of("-/");
  if (cut == place.npos || !is_zone(place.substr(cut + 1))) return {place, ""};
  return {place.substr(0, cut), place.substr(cut + 1)};
}

Named named(const ir::Node& node) {
  const auto places = texts_wanted(node, "availability_zone");
  return places.empty() ? Named() : parsed_place(places.front());
}

}  // namespace

std::string region_named(const ir::Node& node) { return named(node).region; }
std::string zone_named(const ir::Node& node) { return named(node).zone; }

std::vector<std::string> zones_named(const ir::Node& node) {
  std::vector<std::string> zones;
  for (const std::string& place : texts_wanted(node, "availability_zone")) {
    const std::string zone = parsed_place(place).zone;
    if (zone.empty()) return {};
    zones.push_back(zone);
  }
  return zones;
}

bool is_region_name(const std::string& text) {
  return text.size() > 3 && std::isalpha(static_cast<unsigned char>(text.front())) &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::islower(c) || std::isdigit(c); });
}

Result<std::string> subnet_named(const ir::Network& network) {
  const std::string given = network.features->value("provider_id", "");
  const std::string whole = id_in(given);
  if (!whole.empty() && whole.find("/subnets/") != whole.npos) return whole;
  const auto parts = split(given, '/');
  const bool three = parts.size() == 3 && std::none_of(parts.begin(), parts.end(),
                                                       [](std::string_view part) { return part.empty(); });
  if (whole.empty() && three)
    return id_in(fmt::format("resourceGroups/{}/providers/Microsoft.Network/virtualNetworks/{}/subnets/{}",
                             parts[0], parts[1], parts[2]));
  return invalid(
      fmt::format("network {}: provider_id = '{}': must be RESOURCE-GROUP/NETWORK/SUBNET, or the whole id of "
                  "a subnet",
                  network.name, given));
}

Result<std::string> disk_in_url(const std::string& url) {
  constexpr std::string_view kScheme = "azr://";
  if (!url.starts_with(kScheme) && url.find("://") != url.npos) return std::string();
  const std::string_view text = std::string_view(url).substr(url.starts_with(kScheme) ? kScheme.size() : 0);
  const std::string whole = id_in(std::string(text));
  if (whole.find("/disks/") != whole.npos) return whole;
  auto parts = split(text, '/');
  const bool named = parts.size() == 3 && (to_lower(parts[0]) == "disk" || to_lower(parts[0]) == "disks");
  if (named) parts.erase(parts.begin());
  if (whole.empty() && parts.size() == 2 && !parts[0].empty() && !parts[1].empty())
    return id_in(fmt::format("resourceGroups/{}/providers/Microsoft.Compute/disks/{}", parts[0], parts[1]));
  return invalid(
      fmt::format("'{}' must be azr://disk/RESOURCE-GROUP/NAME, or azr:/// and the whole id of a disk", url));
}

std::string network_of_subnet(const std::string& subnet) {
  return subnet.substr(0, subnet.find("/subnets/"));
}

}  // namespace radl::azure
