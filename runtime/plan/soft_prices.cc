#include "runtime/plan/soft_prices.h"

#include <fmt/format.h>

#include <algorithm>

namespace radl {
namespace {

// The offer for the node alone; nullopt if the cloud has none.
std::optional<Offer> offer_for(const Cloud& cloud, const DesignInput& input, const ir::Node& node) {
  DesignInput alone = input;
  alone.nodes = {&node};
  Result<Design> design = cloud.design(alone);
  if (!design.ok()) return std::nullopt;
  auto machine = std::find_if(design->resources.begin(), design->resources.end(),
                              [&](const Wanted& each) { return each.node == node.address; });
  if (machine == design->resources.end() || machine->chosen >= machine->offers.size()) return std::nullopt;
  return machine->offers[machine->chosen];
}

// What a group raises the price by; "" if it does not.
std::string raised(const Offer& without, const Offer& with, size_t nodes) {
  const Money &from = without.price_per_hour, &to = with.price_per_hour;
  if (!without.facts.priced) return {};
  if (!with.facts.priced) return fmt::format("from {} to an unknown price an hour", from.text());
  if (from.currency != to.currency || to.micros <= from.micros) return {};
  const Money more{to.micros - from.micros, to.currency};
  std::string text = fmt::format("by {} to {} an hour", more.text(), to.text());
  if (nodes > 1)
    text += fmt::format(" a node, by {} for {} nodes",
                        Money{more.micros * static_cast<int64_t>(nodes), more.currency}.text(), nodes);
  return text;
}

}  // namespace

std::vector<std::string> soft_price_notes(const Cloud& cloud, const DesignInput& input,
                                          const SoftOutcome& outcome, const Offer& with_all, size_t nodes) {
  std::vector<std::string> notes;
  Offer with = with_all;
  for (auto group = outcome.taken.rbegin(); group != outcome.taken.rend(); ++group) {
    const std::optional<Offer> without = offer_for(cloud, input, group->without);
    if (!without) continue;
    if (std::string more = raised(*without, with, nodes); !more.empty())
      notes.push_back(fmt::format(
          "{}: soft {} ({}) raises the price {}: it takes {} and passes over {} at {}", outcome.node.system,
          group->weight, group->features, more, with.name, without->name, without->price_per_hour.text()));
    with = *without;
  }
  std::reverse(notes.begin(), notes.end());
  return notes;
}

}  // namespace radl
