#include "runtime/clouds/azure/offers.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/clouds/azure/images.h"
#include "runtime/clouds/azure/places.h"
#include "runtime/clouds/azure/sizes.h"
#include "runtime/clouds/fitting.h"

namespace radl::azure {
namespace {

constexpr size_t kTypesOffered = 3;

// Why the subscription may not have that type there ("restrictions" of a survey); "": nothing is known.
std::string restricted(const DesignInput& input, const std::string& type, const std::string& zone) {
  const Json& one = member(member(input.survey.facts, "restricted"), type);
  for (const auto& [where, why] : one.items())
    if ((where == "region" || where == zone) && why.is_string()) return why.get<std::string>();
  return "";
}

// In none of them, where there are several.
std::string restricted_in_all(const DesignInput& input, const std::string& type,
                              const std::vector<std::string>& zones) {
  std::string why = restricted(input, type, zones.empty() ? "" : zones.front());
  for (const std::string& zone : zones)
    if (restricted(input, type, zone).empty()) why.clear();
  return why;
}

// Why that type does not take the disks of the file ("data_disks" of a survey); "": nothing is known.
std::string too_many_disks(const DesignInput& input, const ir::Node& node, const std::string& type) {
  const double most = number_of(member(input.survey.facts, "data_disks"), type, -1);
  const auto wanted = std::count_if(node.disks.begin(), node.disks.end(), is_further_disk);
  return most < 0 || double(wanted) <= most ? ""
                                            : fmt::format("takes {} further disks, not {}", most, wanted);
}

// Not every image is made for NVMe, and nothing says it before Azure refuses the machine: whoever wants such
// a size names it.
void pass_over_nvme(std::vector<const InstanceType*>& types) {
  auto needs = [](const InstanceType* type) { return needs_nvme(type->name); };
  if (!std::all_of(types.begin(), types.end(), needs)) std::erase_if(types, needs);
}

// A survey has asked what the region has.
Status check_place(const CloudId& cloud, const ir::Node& node, const DesignInput& input) {
  const Json& asked = member(input.survey.facts, "families");
  if (asked.is_object() && !asked.empty()) return {};
  return check_region(node, cloud, input.catalog);
}

Result<std::vector<Offer>> in_market(const CloudId& cloud, const ir::Node& node, const DesignInput& input,
                                     Market market) {
  if (Status right = check_disk_types(disk_rules(), node); !right.ok()) return right;
  auto types = input.catalog.types("azure", cloud.region);
  if (!types.ok()) return types.status();
  const bool sustained = trains(input.program, node);
  std::vector<Offer> offers;
  if (types->empty()) {
    auto named = offers_by_name(node, market, cloud.region, "Standard_D2s_v5");
    if (!named.ok()) return named.status();
    offers = std::move(*named);
  } else {
    Fitting fitting{node, *types, "Azure in " + cloud.region};
    fitting.sustained = sustained;
    auto fit = fitting_types(fitting, market);
    if (!fit.ok()) return fit.status();
    if (texts_wanted(node, "instance_type").size() < 2) smallest_first(*fit, market);
    if (texts_wanted(node, "instance_type").empty()) pass_over_nvme(*fit);
    const std::string first = fit->front()->name;
    std::erase_if(*fit,
                  [&](const InstanceType* type) { return !takes_disks(disk_rules(), node, type->name); });
    if (fit->empty()) return disks_not_taken(disk_rules(), node, first);
    for (const InstanceType* type : *fit) offers.push_back(offer_of(*type, market));
  }
  std::string why;
  const std::vector<std::string> zones = zones_for(node);
  std::erase_if(offers, [&](const Offer& offer) {
    std::string no = restricted_in_all(input, offer.name, zones);
    if (no.empty()) no = too_many_disks(input, node, offer.name);
    if (!no.empty()) why = offer.name + ": " + no;
    return !no.empty();
  });
  if (offers.empty())
    return invalid(
               fmt::format("{}: this subscription may not use any of the machine types that fit in {}: {}",
                           node.address, cloud.region, why))
        .with_hint("choose another instance_type or region, or request it: portal.azure.com, Quotas");
  OfferedTypes offered("azure", std::max(kTypesOffered, texts_wanted(node, "instance_type").size()),
                       sustained);
  std::erase_if(offers, [&](const Offer& offer) { return !offered.takes(offer.name); });
  return offers;
}

// Maximum price of a spot machine; without one, it is never preempted for its price.
double highest_price(const ir::Node& node) {
  auto price = node.requirements.find("price");
  return price == node.requirements.end() ? -1 : price->second.max.value_or(-1);
}

}  // namespace

std::vector<std::string> zones_for(const ir::Node& node) {
  std::vector<std::string> zones = zones_named(node);
  const bool has_disks = std::any_of(node.disks.begin(), node.disks.end(), is_further_disk);
  if (has_disks && zones.size() > 1) zones.resize(1);
  return zones;
}

Result<std::vector<Offer>> offers_for(const CloudId& cloud, const ir::Node& node, const DesignInput& input) {
  if (node.requirements.count("cpu.performance"))
    return invalid(fmt::format("{}: cpu.performance: Azure's machine types have none", node.address));
  if (Status right = check_place(cloud, node, input); !right.ok()) return right;
  auto image = image_wanted(node);
  if (!image.ok()) return image.status();
  const Market market = market_wanted(node);
  auto offers = in_market(cloud, node, input, market);
  if (!offers.ok()) return offers;
  if (market == Market::Spot)
    for (Offer& offer : *offers) offer.spec.update({{"market", "spot"}, {"max_price", highest_price(node)}});
  if (falls_back(node))
    offers = with_fallback(std::move(*offers), in_market(cloud, node, input, Market::OnDemand));
  if (!offers.ok()) return offers;
  const std::string old = first_generation(*image);
  for (Offer& offer : *offers) {
    if (!old.empty() && is_first_generation(offer.name)) offer.spec["image"] = old;
    if (!is_arm(offer.name)) continue;
    offer.spec["image"] = for_arm(*image);
    if (offer.spec["image"] == "")
      return invalid(fmt::format("{}: {} has arm64 processors, and radlc knows no image of {} for them",
                                 node.address, offer.name, *image))
          .with_hint("name one: disk.0.image.url = 'azr://PUBLISHER/OFFER/SKU/VERSION'");
  }
  Status boots = keep_bootable(
      node, input.survey, *image, [](const std::string& type) { return is_arm(type); }, *offers);
  if (!boots.ok()) return boots;
  std::vector<Offer> all = in_zones(*offers, zones_for(node));
  std::erase_if(all, [&](const Offer& offer) { return !restricted(input, offer.name, offer.zone).empty(); });
  return all;
}

}  // namespace radl::azure
