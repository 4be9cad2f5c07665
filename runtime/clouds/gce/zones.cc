#include "runtime/clouds/gce/zones.h"

#include <algorithm>
#include <cctype>

#include "common/json_values.h"
#include "runtime/clouds/fitting.h"

namespace radl::gce {
namespace {

// Those whose zones are not a, b and c.
constexpr std::pair<const char*, const char*> kZones[] = {
    {"us-east1", "bcd"}, {"europe-west1", "bcd"}, {"us-central1", "abcf"}};

std::string first_place(const ir::Node& node) {
  const auto places = texts_wanted(node, "availability_zone");
  if (places.empty()) return "";
  // 'REGION/ZONE' as other clouds take it.
  const size_t slash = places.front().rfind('/');
  return slash == std::string::npos ? places.front() : places.front().substr(slash + 1);
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
  const std::string place = first_place(node);
  if (place.empty()) return region_of_image(node);
  return is_zone_name(place) ? place.substr(0, place.size() - 2) : place;
}

std::string zone_named(const ir::Node& node) {
  const std::string place = first_place(node);
  return is_zone_name(place) ? place : "";
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
