#include "runtime/clouds/openstack/offers.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/clouds/fitting.h"
#include "runtime/clouds/openstack/flavors.h"
#include "runtime/clouds/openstack/images.h"

namespace radl::openstack {
namespace {

constexpr size_t kFlavorsOffered = 3;

bool is_exact(const std::string& name) { return name.find('*') == name.npos; }

Result<std::vector<Offer>> of_catalog(const ir::Node& node, const std::vector<const InstanceType*>& types,
                                      const std::string& cloud) {
  auto fit = fitting_types({node, types, cloud, ""});
  if (!fit.ok()) return fit.status();
  const size_t most = std::max(kFlavorsOffered, texts_wanted(node, "instance_type").size());
  std::vector<Offer> offers;
  for (const InstanceType* type : *fit)
    if (offers.size() < most) offers.push_back(offer_of(*type, Market::OnDemand));
  return offers;
}

Offer unpriced(const Flavor& flavor) {
  Offer offer = offer_of(flavor.type, Market::OnDemand);
  offer.spec = Json::object();
  offer.facts.priced = false;
  return offer;
}

Result<std::vector<Flavor>> surveyed(const Survey& survey) {
  std::vector<Flavor> flavors;
  for (const Json& one : list_of(survey.facts, "flavors")) flavors.push_back(flavor_from_json(one));
  return flavors;
}

// The one that will be taken: what the image needs is known where it was looked at.
const Flavor& started(const Place& place, const ir::Node& node, const Survey& survey,
                      const std::vector<const Flavor*>& fit) {
  auto wanted = image_wanted(node, place.host, place.egi_site);
  const Json& needs = wanted.ok() ? member(member(survey.facts, "needs"), wanted->text) : Json::object();
  Image image;
  image.min_memory_bytes = number_of(needs, "memory_bytes");
  image.min_disk_gib = number_of(needs, "disk_gib");
  double root = 0;
  for (const ir::Disk& disk : node.disks)
    if (disk.index == 0 && disk.size_bytes) root = *disk.size_bytes / kGiB;
  const Flavor* found = first_for(fit, image, root);
  return found ? *found : *fit.front();
}

// Leaves the flavors that the image may start on; Invalid: there is none.
Status keep_bootable(const Place& place, const ir::Node& node, const Survey& survey,
                     std::vector<const Flavor*>& fit) {
  auto image = image_wanted(node, place.host, place.egi_site);
  if (!image.ok()) return {};
  const std::string architecture = text_of(member(survey.facts, "image_architectures"), image->text);
  Status other;
  std::erase_if(fit, [&](const Flavor* one) {
    const bool boots = may_boot(*one, architecture);
    if (!boots) other = image_boots(node, survey, image->text, one->type.name, one->type.architectures);
    return !boots && !other.ok();
  });
  return fit.empty() ? other : Status();
}

// A flavor seldom says which processors its machines have: the file does, by cpu.arch.
Status check_architecture(const Place& place, const ir::Node& node, const Survey& survey) {
  const std::string wanted = text_wanted(node, "cpu.arch");
  auto image = image_wanted(node, place.host, place.egi_site);
  if (wanted.empty() || !image.ok()) return {};
  const std::string name = architecture_name(wanted);
  return image_boots(node, survey, image->text, "a flavor", name == "x86_64" ? "x86_64,i386" : name);
}

Status check_market(const ir::Node& node) {
  if (market_wanted(node) == Market::Spot && !says_yes(node, "spot.fallback"))
    return invalid(fmt::format("{}: spot = 'yes': OpenStack has no spot machines", node.address))
        .with_hint("Set spot.fallback = 'yes' to use a machine on demand if no spot machine is available.");
  if (node.requirements.count("cpu.performance"))
    return invalid(fmt::format("{}: cpu.performance: OpenStack's flavors have none", node.address));
  return {};
}

// As on demand: there is no other market.
ir::Node on_demand(ir::Node node) {
  node.requirements.erase("spot");
  return node;
}

}  // namespace

std::string catalog_region(const CloudId& cloud) {
  if (!cloud.region.empty()) return cloud.region;
  return cloud.account.empty() ? "default" : cloud.account;
}

Result<std::vector<Offer>> offers_for(const Place& place, const ir::Node& written, const DesignInput& input) {
  if (Status market = check_market(written); !market.ok()) return market;
  if (Status right = check_architecture(place, written, input.survey); !right.ok()) return right;
  const ir::Node node = on_demand(written);
  const std::string cloud = place.cloud.text();
  auto types = input.catalog.types("openstack", catalog_region(place.cloud));
  if (!types.ok()) return types.status();
  if (!types->empty()) return of_catalog(node, *types, cloud);
  auto price = node.requirements.find("price");
  if (price != node.requirements.end() && (price->second.min || price->second.max))
    return invalid(fmt::format("{}: price: the prices of {} are not known", node.address, cloud))
        .with_hint("give your own with `radlc catalog update FILE` (docs/providers/openstack.md, \"Costs\")");
  auto flavors = surveyed(input.survey);
  if (!flavors.ok()) return flavors.status();
  std::vector<Offer> offers;
  const auto names = texts_wanted(node, "instance_type");
  const bool exact = !names.empty() && std::all_of(names.begin(), names.end(), is_exact);
  if (!flavors->empty()) {
    auto fit = fitting_flavors(node, *flavors, cloud);
    if (!fit.ok()) return fit.status();
    if (Status boots = keep_bootable(place, node, input.survey, *fit); !boots.ok()) return boots;
    if (!exact) return std::vector<Offer>{unpriced(started(place, node, input.survey, *fit))};
    for (const Flavor* one : *fit) {
      offers.push_back(unpriced(*one));
      offers.back().spec = {{"type", one->type.name}};
    }
    return offers;
  }
  Offer offer;
  offer.facts.market = market_name(Market::OnDemand);
  offer.facts.priced = false;
  if (!exact) {
    offer.name = "the smallest flavor that fits";
    return std::vector<Offer>{std::move(offer)};
  }
  for (const std::string& name : names) {
    offer.name = name;
    offer.spec = {{"type", name}};
    offers.push_back(offer);
  }
  return offers;
}

}  // namespace radl::openstack
