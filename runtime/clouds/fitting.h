// Selects the instance types that fit a node, and explains it if none does. Pure; for every cloud with
// instance types.
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
  std::vector<const InstanceType*> types;  // all existing types, in any order
  std::string cloud;                       // for messages: "the simulated cloud", "EC2 in eu-west-1"
  // For nodes that name neither cpu.arch nor a type: images exist for one architecture. Empty: any.
  std::string architecture = "x86_64";
  // GPU vendor for nodes that request GPUs without naming one: the standard library's drivers and programs
  // are for this vendor. Empty: any.
  std::string gpu_vendor = kDefaultGpuVendor;
  // Whether types with CPU credits come last, because a training uses its cores all the time.
  bool sustained = false;
};

// Limits the number of types offered to a node. A training gets the same number of types with CPU credits in
// addition, so that a machine from an earlier plan keeps its type.
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

// True for a node of a training, by the native engine or by several workers of a program
// (`Fitting::sustained`).
bool trains(const ir::Program& program, const ir::Node& node);

// Sorted from cheapest to most expensive in the node's market (market_wanted). Types without a known price
// come last, but before those that `sustained` moves to the end. If `instance_type` lists several, the first
// one's types come first. Invalid names the feature that no type has in combination with the previous ones,
// and the available values.
Result<std::vector<const InstanceType*>> fitting_types(const Fitting& fitting);
// Same in another market; `price` limits the price there.
Result<std::vector<const InstanceType*>> fitting_types(const Fitting& fitting, Market market);

// Canonical name in catalogues and `cpu.arch`: "x86_64" for "amd64" and "x64", "arm64" for "aarch64".
std::string architecture_name(const std::string& text);
// Invalid: the survey knows the image's architecture (`image_architectures` of its facts), and the machine
// type does not support it ("x86_64,i386"). A word that names no architecture ("architecture_unspecified") is
// accepted.
Status image_boots(const ir::Node& node, const Survey& survey, const std::string& image,
                   const std::string& type, const std::string& architectures);
// Removes offers whose image does not boot on their type, as far as a survey knows. `is_arm`: whether a type
// is arm64 instead of x86_64. Invalid: none is left.
Status keep_bootable(const ir::Node& node, const Survey& survey, const std::string& image,
                     bool (*is_arm)(const std::string& type), std::vector<Offer>& offers);

// A note for a node that requests GPUs but names neither
// gpu.vendor, gpu.model nor instance_type; "" for any
// other.
std::string gpu_note(const ir::Node& node);
// A note about the machine type of a training node; "" if it always runs at full speed and has no unused
// GPU.
std::string training_note(const ir::Program& program, const ir::Node& node, const std::string& cloud,
                          const Offer& offer);

// `spot = 'yes'`.
Market market_wanted(const ir::Node& node);
// `spot.fallback = 'yes'` on a node of the spot market.
bool falls_back(const ir::Node& node);
// The spot `offers` followed by on-demand ones. If there are none of the latter, the error explains what to
// do: `price` also limits the on-demand price.
Result<std::vector<Offer>> with_fallback(std::vector<Offer> offers, Result<std::vector<Offer>> on_demand);

// The offer for that type and market: name, price and facts, and {"type": name} for the spec.
Offer offer_of(const InstanceType& type, Market market);

// Repeats each offer for every zone, in zone order: if one zone lacks capacity, the next is tried. Unchanged
// if there are no zones.
std::vector<Offer> in_zones(const std::vector<Offer>& offers, const std::vector<std::string>& zones);

// Sorts the part of fitting_types() without a known price, which comes last: smallest first.
void smallest_first(std::vector<const InstanceType*>& types, Market market);
// Invalid: the catalogue does not have the region but one with a similar name.
Status check_region(const ir::Node& node, const CloudId& cloud, const Catalog& catalog);
// Types named in the file, for a region without a catalogue: used as named, without a price. Invalid: the
// file names none (`example` shows one), or limits a price that is unknown.
Result<std::vector<Offer>> offers_by_name(const ir::Node& node, Market market, const std::string& region,
                                          const std::string& example);

}  // namespace radl
