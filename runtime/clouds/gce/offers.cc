#include "runtime/clouds/gce/offers.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/json_values.h"
#include "common/text.h"
#include "runtime/clouds/fitting.h"
#include "runtime/clouds/gce/disk_types.h"
#include "runtime/clouds/gce/images.h"
#include "runtime/clouds/gce/instance.h"
#include "runtime/clouds/gce/zones.h"

namespace radl::gce {
namespace {

constexpr size_t kTypesOffered = 3;

std::vector<std::string> zones_for(const Place& place, const ir::Node& node, const DesignInput& input) {
  if (auto named = zones_named(node); !named.empty()) return named;
  if (std::string of_disks = zone_of_disks_there(node); !of_disks.empty()) return {of_disks};
  if (!place.zone.empty()) return {place.zone};
  return zones_of(place.cloud.region, input.survey);
}

// A survey has asked for the region, and knows its zones.
Status check_place(const Place& place, const ir::Node& node, const DesignInput& input) {
  const std::string& region = place.cloud.region;
  if (json::list_of(input.survey.facts, "zones").empty())
    if (Status known = check_region(node, place.cloud, input.catalog); !known.ok()) return known;
  const std::vector<std::string> zones = zones_of(region, input.survey);
  const std::vector<std::string> wanted = zones_for(place, node, input);
  const std::string of_disks = zone_of_disks_there(node);
  if (!of_disks.empty() && of_disks != wanted.front())
    return invalid(fmt::format("{}: disk.N.image.url names a disk in {}, but the machine would be in {}",
                               node.address, of_disks, wanted.front()));
  for (const std::string& zone : wanted) {
    if (std::find(zones.begin(), zones.end(), zone) != zones.end()) continue;
    return invalid(fmt::format("{}: availability_zone = '{}' is not a zone of Compute Engine", node.address,
                               zone))
        .with_hint(
            fmt::format("{} has {}; use --refresh to ask for its current ones", region, join(zones, ", ")));
  }
  return {};
}

// Disks are made before it is known which machine comes: those whose type nobody says are of the first one's.
bool takes_unsaid(const ir::Node& node, const std::string& machine, const std::string& first) {
  const bool unsaid = std::any_of(node.disks.begin(), node.disks.end(), [](const ir::Disk& disk) {
    return disk.index > 0 && disk.size_bytes && disk.type.empty();
  });
  const std::string kind = usual_disk(first);
  return !unsaid || disk_rules().takes(machine, kind.empty() ? "pd-standard" : kind);
}

Result<std::vector<Offer>> with_disks(const ir::Node& node, const std::vector<const InstanceType*>& types,
                                      Market market, bool sustained) {
  OfferedTypes offered("gce", std::max(kTypesOffered, texts_wanted(node, "instance_type").size()), sustained);
  std::vector<Offer> offers;
  for (const InstanceType* type : types) {
    if (offered.full()) break;
    if (!takes_disks(disk_rules(), node, type->name)) continue;
    if ((offers.empty() || takes_unsaid(node, type->name, offers.front().name)) && offered.takes(type->name))
      offers.push_back(offer_of(*type, market));
  }
  if (offers.empty()) return disks_not_taken(disk_rules(), node, types.front()->name);
  return offers;
}

Result<std::vector<Offer>> in_market(const ir::Node& node, const Place& place, const DesignInput& input,
                                     Market market) {
  if (Status right = check_disk_types(disk_rules(), node); !right.ok()) return right;
  auto types = input.catalog.types("gce", place.cloud.region);
  if (!types.ok()) return types.status();
  Result<std::vector<Offer>> offers = std::vector<Offer>();
  if (types->empty()) {
    offers = offers_by_name(node, market, place.cloud.region, "e2-standard-2");
    if (!offers.ok()) return offers;
  } else {
    Fitting fitting{node, *types, "Compute Engine in " + place.cloud.region};
    fitting.sustained = trains(input.program, node);
    auto fit = fitting_types(fitting, market);
    if (!fit.ok()) return fit.status();
    if (texts_wanted(node, "instance_type").size() < 2) smallest_first(*fit, market);
    offers = with_disks(node, *fit, market, fitting.sustained);
    if (!offers.ok()) return offers;
  }
  auto arm_image = image_wanted(node, true);
  if (!arm_image.ok()) return arm_image.status();
  for (Offer& offer : *offers) {
    if (market == Market::Spot) offer.spec["market"] = "spot";
    if (is_arm(offer.name)) offer.spec["image"] = *arm_image;
  }
  auto image = image_wanted(node);
  if (!image.ok()) return image.status();
  Status boots = keep_bootable(
      node, input.survey, *image, [](const std::string& type) { return is_arm(type); }, *offers);
  return boots.ok() ? std::move(offers) : Result<std::vector<Offer>>(boots);
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
  if (Status right = check_place(place, node, input); !right.ok()) return right;
  auto offers = in_market(node, place, input, market_wanted(node));
  if (!offers.ok()) return offers;
  if (falls_back(node))
    offers = with_fallback(std::move(*offers), in_market(node, place, input, Market::OnDemand));
  if (!offers.ok()) return offers;
  auto zones = zones_for(place, node, input);
  if (one_zone) zones.resize(1);
  return in_zones(*offers, zones);
}

}  // namespace radl::gce
