// Instance types and what they cost, from dated files: a plan's prices are estimates as of those dates.
//
// In: files of the format of docs/catalog.md, the one built into the program (data/ec2.catalog) and those
// that the user put beside it. Out: what a region has on offer. A file is read when its cloud is first asked
// for, and of it the region alone, so that a plan that needs no prices pays nothing for them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "runtime/base/money.h"

namespace radl {

enum class Market { OnDemand, Spot };
std::string_view market_name(Market market);  // "on-demand", "spot"

struct Price {
  Money per_hour;
  std::string as_of;  // "2025-11-03"
};

struct LocalDisks {
  int count = 0;
  double bytes = 0;  // of each
  std::string kind;  // "nvme", "ssd", "hdd"
};

struct InstanceType {
  std::string cloud, region, name;  // "ec2", "eu-west-1", "m5.large"
  double cpu = 0;                   // virtual cores
  double memory_bytes = 0;
  double gpu = 0;  // graphics processors; a share of one counts as that share
  std::string gpu_vendor, gpu_model;
  double gpu_memory_bytes = 0;  // of each
  // Bits per second, in one direction, over all of its network cards; 0: not known.
  double network_sustained = 0, network_peak = 0;
  std::vector<LocalDisks> disks;
  std::string architectures;             // "x86_64", "arm64", "i386,x86_64"
  double ecu = 0;                        // EC2 compute units of the whole machine; 0: the cloud gives none
  std::optional<Price> on_demand, spot;  // nullopt: available, but the catalogue has no price

  const std::optional<Price>& price(Market market) const { return market == Market::Spot ? spot : on_demand; }
  bool runs(std::string_view architecture) const;
};

// In a fixed order: by price, those without one last; then by name.
bool cheaper(const InstanceType& a, const InstanceType& b, Market market);

// Copies share what was read. The calls that ask may be made from several threads, add*() only before them.
class Catalog {
 public:
  Catalog();  // of nothing
  // A file of the catalogue's format; `name` is for messages. What it has wins over what is there already
  // where its prices are newer. Only the file's head is read; a fault further on shows when its cloud is
  // asked for.
  Status add(std::string text, std::string name);
  // As add(), but read when first needed; where there is no such file, nothing.
  void add_file(std::string path, std::string cloud);
  // As add(), of a text that outlives the program.
  void add_built_in(std::string_view text, std::string cloud);

  // In all calls: Invalid where a file cannot be read or is malformed; names file and line.

  // The date of the newest price of a cloud; empty: it has none.
  Result<std::string> as_of(const std::string& cloud) const;
  std::vector<std::string> clouds() const;                                   // sorted
  Result<std::vector<std::string>> regions(const std::string& cloud) const;  // sorted
  Result<std::vector<std::string>> sources(const std::string& cloud) const;  // where the figures are from
  // Of every type whose shape is known, whatever region has it.
  Result<std::set<std::string>> type_names(const std::string& cloud) const;
  // Every type that the region has, by name; empty where the catalogue does not know the region. The types
  // live as long as the catalogue and its copies.
  Result<std::vector<const InstanceType*>> types(const std::string& cloud, const std::string& region) const;
  // nullptr: there is none of that name.
  Result<const InstanceType*> find(const std::string& cloud, const std::string& region,
                                   std::string_view name) const;
  // Those that `fits` takes, as cheaper() orders them.
  Result<std::vector<const InstanceType*>> candidates(
      const std::string& cloud, const std::string& region, Market market,
      const std::function<bool(const InstanceType&)>& fits) const;

 private:
  struct Files;
  std::shared_ptr<Files> files_;
};

// The whole text, checked. Invalid: a version that this radlc does not read, an unknown field, a number that
// is none, a type or section that is there twice, a price of a type whose shape neither the text nor `known`
// has; names the line.
Status check_catalog(std::string_view text, const std::string& name, const std::set<std::string>& known = {});
// Of every cloud that has one: runtime/clouds/TYPE/TYPE.catalog, as built into the program.
Catalog built_in_catalog();

}  // namespace radl
