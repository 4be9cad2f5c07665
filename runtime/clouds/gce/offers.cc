#include "runtime/clouds/gce/offers.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/clouds/fitting.h"
#include "runtime/clouds/gce/images.h"
#include "runtime/clouds/gce/instance.h"
#include "runtime/clouds/gce/zones.h"

namespace radl::gce {
namespace {

constexpr size_t kTypesOffered = 3;

std::vector<std::string> zones_for(const Place& place, const ir::Node& node, const DesignInput& input) {
  if (std::string named = zone_named(node); !named.empty()) return {named};
  if (!place.zone.empty()) return {place.zone};
  return zones_of(place.cloud.region, input.survey);
}

Result<std::vector<Offer>> in_market(const ir::Node& node, const Place& place, const DesignInput& input,
                                     Market market) {
  auto types = input.catalog.types("gce", place.cloud.region);
  if (!types.ok()) return types.status();
  Result<std::vector<Offer>> offers = std::vector<Offer>();
  if (types->empty()) {
    offers = offers_by_name(node, market, place.cloud.region, "e2-standard-2");
    if (!offers.ok()) return offers;
  } else {
    const std::string architecture = text_wanted(node, "instance_type").empty() ? "x86_64" : "";
    auto fit = fitting_types({node, *types, "Compute Engine in " + place.cloud.region, architecture}, market);
    if (!fit.ok()) return fit.status();
    const size_t most = std::max(kTypesOffered, texts_wanted(node, "instance_type").size());
    if (texts_wanted(node, "instance_type").size() < 2) smallest_first(*fit, market);
    for (const InstanceType* type : *fit)
      if (offers->size() < most) offers->push_back(offer_of(*type, market));
  }
  auto arm_image = image_wanted(node, true);
  if (!arm_image.ok()) return arm_image.status();
  for (Offer& offer : *offers) {
    if (market == Market::Spot) offer.spec["market"] = "spot";
    if (is_arm(offer.name)) offer.spec["image"] = *arm_image;
  }
  return offers;
}

}  // namespace

std::string zone_of_disks(const Place& place, const ir::Node& node, const DesignInput& input) {
  return zones_for(place, node, input).front();
}

Result<std::vector<Offer>> offers_for(const Place& place, const ir::Node& node, const DesignInput& input,
                                      bool one_zone) {
  if (node.requirements.count("cpu.performance"))
    return invalid(
        fmt::format("{}: cpu.performance: Compute Engine's machine types have none", node.address));
  auto offers = in_market(node, place, input, market_wanted(node));
  if (!offers.ok()) return offers;
  if (falls_back(node))
    offers = with_fallback(std::move(*offers), in_market(node, place, input, Market::OnDemand));
  if (!offers.ok()) return offers;
  auto zones = zones_for(place, node, input);
  if (one_zone) zones.resize(1);
  std::vector<Offer> all;
  for (const Offer& offer : *offers) {
    for (const std::string& zone : zones) {
      all.push_back(offer);
      all.back().zone = zone;
      all.back().spec["zone"] = zone;
    }
  }
  return all;
}

}  // namespace radl::gce
