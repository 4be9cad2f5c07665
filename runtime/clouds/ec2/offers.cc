#include "runtime/clouds/ec2/offers.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/clouds/ec2/images.h"
#include "runtime/clouds/fitting.h"

namespace radl::ec2 {
namespace {

constexpr size_t kTypesOffered = 3;

// The lowest of a type's zones now, where a survey was taken.
std::optional<Money> surveyed_spot(const Survey& survey, const std::string& type) {
  const Json prices = survey.facts.value("spot", Json::object());
  if (!prices.contains(type)) return std::nullopt;
  return Money::of(prices[type].get<double>());
}

std::optional<double> highest_price(const ir::Node& node) {
  auto price = node.requirements.find("price");
  return price == node.requirements.end() ? std::nullopt : price->second.max;
}

Status image_boots_on(const ir::Node& node, const InstanceType& type, const Survey& survey,
                      const std::string& region) {
  auto image = image_wanted(node, type.runs("x86_64") ? "x86_64" : "arm64", region);
  if (!image.ok()) return {};
  return image_boots(node, survey, image->text, type.name, type.architectures);
}

Result<std::vector<Offer>> in_market(const Fitting& fitting, Market market, const DesignInput& input,
                                     const std::string& region) {
  auto types = fitting_types(fitting, market);
  if (!types.ok()) return types.status();
  // Each that the file names in its order, and of others the cheapest.
  const size_t most = std::max(kTypesOffered, texts_wanted(fitting.node, "instance_type").size());
  OfferedTypes offered("ec2", most, fitting.sustained);
  std::vector<Offer> offers;
  Status other;
  for (const InstanceType* type : *types) {
    if (offered.full()) break;
    if (Status boots = image_boots_on(fitting.node, *type, input.survey, region); !boots.ok()) {
      other = std::move(boots);
      continue;
    }
    if (!offered.takes(type->name)) continue;
    Offer offer = offer_of(*type, market);
    if (market == Market::Spot) {
      offer.spec["market"] = "spot";
      if (auto now = surveyed_spot(input.survey, type->name)) {
        offer.price_per_hour = *now;
        offer.facts.spot = *now;
        offer.facts.as_of.clear();
        offer.facts.priced = true;
      }
      if (auto most = highest_price(fitting.node)) offer.spec["max_price"] = fmt::format("{}", *most);
    }
    if (!type->runs("x86_64")) {
      auto image = image_wanted(fitting.node, "arm64", region);
      if (!image.ok()) return image.status();
      offer.spec["image"] = image->text;
    }
    offers.push_back(std::move(offer));
  }
  if (offers.empty() && !other.ok()) return other;
  return offers;
}

}  // namespace

Result<std::vector<Offer>> offers_for(const CloudId& cloud, const ir::Node& node, const DesignInput& input) {
  auto types = input.catalog.types("ec2", cloud.region);
  if (!types.ok()) return types.status();
  if (types->empty())
    return invalid(fmt::format("the catalogue knows no instance types of region {}", cloud.region))
        .with_hint("`radlc catalog list --cloud ec2` shows its regions; `radlc catalog update` adds to it");
  Fitting fitting{node, *types, "EC2 in " + cloud.region};
  fitting.sustained = trains(input.program, node);
  auto offers = in_market(fitting, market_wanted(node), input, cloud.region);
  if (!offers.ok() || !falls_back(node)) return offers;
  return with_fallback(std::move(*offers), in_market(fitting, Market::OnDemand, input, cloud.region));
}

}  // namespace radl::ec2
