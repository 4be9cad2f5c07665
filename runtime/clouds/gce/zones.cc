#include "runtime/clouds/gce/zones.h"

#include <algorithm>
#include <cctype>

#include "common/json_values.h"
#include "common/text.h"
#include "runtime/clouds/fitting.h"

namespace radl::gce {
namespace {

// Those whose zones are not a, b and c.
constexpr std::pair<const char*, const char*> kZones[] = {
    {"us-east1", "bcd"}, {"europe-west1", "bcd"}, {"us-central1", "abcf"}};

std::vector<std::string> places_named(const ir::Node& node) {
  std::vector<std::string> places = texts_wanted(node, "availability_zone");
  // 'REGION/ZONE' as other clouds take it.
  for (std::string& place : places)
    if (const size_t slash = place.rfind('/'); slash != place.npos) place.erase(0, slash + 1);
  return places;
}

std::string region_of_image(const ir::Node& node) {
  constexpr std::string_view kScheme = "gce://";
  for (const std::string& url : image_urls(node)) {
    if (!url.starts_with(kScheme)) continue;
    std::string place = url.substr(kScheme.size(), url.find('/', kScheme.size()) - kScheme.size());
    if (is_zone_name(place)) place.resize(place.size() - 2);
    if (is_region_name(place)) return place;
  }
  return "";
}

std::string region_of_disks(const ir::Node& node) {
  const std::string zone = zone_of_disks_there(node);
  return zone.empty() ? "" : zone.substr(0, zone.size() - 2);
}

}  // namespace

bool is_region_name(const std::string& text) {
  const size_t dash = text.find('-');
  return dash != text.npos && dash > 0 && std::isdigit(static_cast<unsigned char>(text.back())) &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::islower(c) || std::isdigit(c) || c == '-'; });
}

bool is_zone_name(const std::string& text) {
  return text.size() > 2 && text[text.size() - 2] == '-' &&
         std::islower(static_cast<unsigned char>(text.back())) &&
         is_region_name(text.substr(0, text.size() - 2));
}

std::string region_named(const ir::Node& node) {
  const std::vector<std::string> places = places_named(node);
  const std::string place = places.empty() ? "" : places.front();
  if (place.empty()) {
    const std::string of_image = region_of_image(node);
    return of_image.empty() ? region_of_disks(node) : of_image;
  }
  return is_zone_name(place) ? place.substr(0, place.size() - 2) : place;
}

std::vector<std::string> zones_named(const ir::Node& node) {
  std::vector<std::string> places = places_named(node);
  const bool all_zones = std::all_of(places.begin(), places.end(), is_zone_name);
  return all_zones ? places : std::vector<std::string>();
}

std::string disk_in_url(const std::string& url) {
  constexpr std::string_view kScheme = "gce://";
  if (!url.starts_with(kScheme)) return url.find("://") == url.npos ? url : "";
  const auto parts = split(std::string_view(url).substr(kScheme.size()), '/');
  const std::string name(parts.back());
  if (parts.size() < 2 || name.empty()) return "";
  std::string zone(parts.front());
  for (size_t i = 0; i + 1 < parts.size(); ++i)
    if (parts[i] == "zones") zone = parts[i + 1];
  return is_zone_name(zone) ? zone + "/" + name : name;
}

std::string disk_path(const std::string& named, const std::string& zone) {
  const size_t slash = named.find('/');
  return "zones/" + (slash == named.npos ? zone : named.substr(0, slash)) + "/disks/" +
         named.substr(slash == named.npos ? 0 : slash + 1);
}

std::string zone_of_disks_there(const ir::Node& node) {
  for (const ir::Disk& disk : node.disks) {
    if (disk.index == 0 || disk.image_urls.empty()) continue;
    const size_t at = std::min(disk.image_urls.size() - 1, static_cast<size_t>(node.ordinal));
    const std::string named = disk_in_url(disk.image_urls[at]);
    if (const size_t slash = named.find('/'); slash != named.npos) return named.substr(0, slash);
  }
  return "";
}

std::vector<std::string> zones_of(const std::string& region, const Survey& survey) {
  std::vector<std::string> zones;
  for (const Json& zone : json::list_of(survey.facts, "zones"))
    if (zone.is_string()) zones.push_back(zone.get<std::string>());
  if (!zones.empty()) return zones;
  std::string letters = "abc";
  for (const auto& [name, others] : kZones)
    if (region == name) letters = others;
  for (char letter : letters) zones.push_back(region + "-" + letter);
  return zones;
}

}  // namespace radl::gce
