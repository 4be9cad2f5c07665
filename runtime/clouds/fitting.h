// Which instance types have what a node asks for, and what to say where none has. Pure; for every cloud that
// has instance types.
//
// The features are RADL's (docs/features.md): cpu.count, cpu.arch, cpu.performance, memory.size, gpu.count,
// gpu.vendor, gpu.model, price, spot and instance_type.
#pragma once

#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl {

struct Fitting {
  const ir::Node& node;
  std::vector<const InstanceType*> types;  // all that there are, in any order
  std::string cloud;                       // for messages: "the simulated cloud", "EC2 in eu-west-1"
  // What a node has that does not say: an image is for one architecture. Empty: any.
  std::string architecture = "x86_64";
};

// From the cheapest to the dearest in the market that the node asks for (market_wanted); those whose price is
// not known come last. Of several in `instance_type` those of the first come first. Invalid names the feature
// that no type has together with those before it, and what there is of it.
Result<std::vector<const InstanceType*>> fitting_types(const Fitting& fitting);
// The same in another market: `price` bounds the price there.
Result<std::vector<const InstanceType*>> fitting_types(const Fitting& fitting, Market market);

// `spot = 'yes'`.
Market market_wanted(const ir::Node& node);
// `spot.fallback = 'yes'` of a node on the spot market.
bool falls_back(const ir::Node& node);
// `offers` of the spot market with those on demand behind them. Why there is none of the latter is said with
// what to do: `price` holds for the machine on demand too.
Result<std::vector<Offer>> with_fallback(std::vector<Offer> offers, Result<std::vector<Offer>> on_demand);

// The offer to take that type in that market: its name, price and facts, and {"type": name} for the spec.
Offer offer_of(const InstanceType& type, Market market);

// Of fitting_types(), those whose price is not known, which come last: the smallest first.
void smallest_first(std::vector<const InstanceType*>& types, Market market);
// Types that the file names, in a region that no catalogue knows: taken as they are named, without a price.
// Invalid: it names none (`example` is what one looks like), or wants a price that nobody knows.
Result<std::vector<Offer>> offers_by_name(const ir::Node& node, Market market, const std::string& region,
                                          const std::string& example);

// The text that a feature must be equal to, or the first of a list; "" where there is none.
std::string text_wanted(const ir::Node& node, const std::string& feature);
std::string text_wanted(const ir::Network& network, const std::string& feature);
// Of a feature that is 'yes' or 'no', in whatever case.
bool says_yes(const ir::Node& node, const std::string& feature);
bool says_yes(const ir::Network& network, const std::string& feature);
bool says_no(const ir::Node& node, const std::string& feature);
// Invalid: one of these is neither.
Status check_yes_or_no(const ir::Node& node, const std::vector<std::string>& features);
// All that a feature names, in its order: 'a, b' or ['a', 'b'].
std::vector<std::string> texts_wanted(const ir::Node& node, const std::string& feature);
// {"name": value} of instance_tags = 'name=value,other=value'. Invalid: it is not of that form.
Result<Json> tags_wanted(const ir::Node& node);
// disk.0.os.version: an equal value of it, or the text behind '='; "" where there is none.
std::string os_version_wanted(const ir::Node& node);
// Of disk 0.
std::vector<std::string> image_urls(const ir::Node& node);
// Whether a number is within the bounds; nothing else of the requirement is looked at.
bool within(const ir::Requirement& wanted, double value);
}  // namespace radl
