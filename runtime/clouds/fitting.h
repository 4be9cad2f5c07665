// Which instance types have what a node asks for, and what to say where none has. Pure; for every cloud that
// has instance types.
//
// The features are RADL's (docs/features.md): cpu.count, cpu.arch, cpu.performance, memory.size, gpu.count,
// gpu.memory, gpu.vendor, gpu.model, price, spot and instance_type.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/clouds/cloud.h"
#include "runtime/clouds/wishes.h"

namespace radl {

inline constexpr const char* kDefaultGpuVendor = "NVIDIA";

struct Fitting {
  const ir::Node& node;
  std::vector<const InstanceType*> types;  // all that there are, in any order
  std::string cloud;                       // for messages: "the simulated cloud", "EC2 in eu-west-1"
  // What a node has that names neither cpu.arch nor a whole type: images are for one. Empty: any.
  std::string architecture = "x86_64";
  // Whose GPUs a node gets that asks for some and does not say: the drivers and programs of the standard
  // library are for these. Empty: anybody's.
  std::string gpu_vendor = kDefaultGpuVendor;
  // Whether types that compute by CPU credits come after all others: a training uses its cores all the time.
  bool sustained = false;
};

// How many types a node is offered: so many, and of a training as many again of those that compute by CPU
// credits, so that a machine that an earlier plan took stays what it is.
class OfferedTypes {
 public:
  OfferedTypes(std::string cloud, size_t most, bool sustained)
      : cloud_(std::move(cloud)), most_(most), sustained_(sustained) {}
  bool takes(const std::string& name);
  bool full() const { return others_ == most_ && (!sustained_ || by_credits_ == most_); }

 private:
  std::string cloud_;
  size_t most_;
  bool sustained_;
  size_t others_ = 0, by_credits_ = 0;
};

// Whether the node is one of a training, by the native engine or by several workers of a program
// (`Fitting::sustained`).
bool trains(const ir::Program& program, const ir::Node& node);

// From the cheapest to the dearest in the market that the node asks for (market_wanted); those whose price is
// not known come last, before those that `sustained` puts at the end. Of several in `instance_type` those of
// the first come first. Invalid names the feature that no type has together with those before it, and what
// there is of it.
Result<std::vector<const InstanceType*>> fitting_types(const Fitting& fitting);
// The same in another market: `price` bounds the price there.
Result<std::vector<const InstanceType*>> fitting_types(const Fitting& fitting, Market market);

// "x86_64" of "amd64" and "x64", "arm64" of "aarch64": as catalogues and `cpu.arch` have it.
std::string architecture_name(const std::string& text);
// Invalid: a survey knows the image's architecture (`image_architectures` of its facts), and it is none of
// the machine type's ("x86_64,i386"). A word that names no architecture ("architecture_unspecified") refuses
// nothing.
Status image_boots(const ir::Node& node, const Survey& survey, const std::string& image,
                   const std::string& type, const std::string& architectures);
// Leaves out the offers whose image does not boot on their type, as far as a survey knows. `is_arm`: whether
// a type is one of arm64 and not of x86_64. Invalid: none is left.
Status keep_bootable(const ir::Node& node, const Survey& survey, const std::string& image,
                     bool (*is_arm)(const std::string& type), std::vector<Offer>& offers);

// What a reviewer should know of a node that asks for GPUs and names neither gpu.vendor, gpu.model nor
// instance_type;
// "" of another.
std::string gpu_note(const ir::Node& node);
// What a reviewer should know of a machine type that a node which trains gets; "" of one that computes at
// full speed for ever and has no GPU that nobody uses.
std::string training_note(const ir::Program& program, const ir::Node& node, const std::string& cloud,
                          const Offer& offer);

// `spot = 'yes'`.
Market market_wanted(const ir::Node& node);
// `spot.fallback = 'yes'` of a node on the spot market.
bool falls_back(const ir::Node& node);
// `offers` of the spot market with those on demand behind them. Why there is none of the latter is said with
// what to do: `price` holds for the machine on demand too.
Result<std::vector<Offer>> with_fallback(std::vector<Offer> offers, Result<std::vector<Offer>> on_demand);

// The offer to take that type in that market: its name, price and facts, and {"type": name} for the spec.
Offer offer_of(const InstanceType& type, Market market);

// Each of them in every zone, in the order of the zones: where one has no room, the next is taken. As they
// are where there are no zones.
std::vector<Offer> in_zones(const std::vector<Offer>& offers, const std::vector<std::string>& zones);

// Of fitting_types(), those whose price is not known, which come last: the smallest first.
void smallest_first(std::vector<const InstanceType*>& types, Market market);
// Invalid: the catalogue does not know the region, and knows one that is spelled nearly so.
Status check_region(const ir::Node& node, const CloudId& cloud, const Catalog& catalog);
// Types that the file names, in a region that no catalogue knows: taken as they are named, without a price.
// Invalid: it names none (`example` is what one looks like), or wants a price that nobody knows.
Result<std::vector<Offer>> offers_by_name(const ir::Node& node, Market market, const std::string& region,
                                          const std::string& example);

}  // namespace radl
