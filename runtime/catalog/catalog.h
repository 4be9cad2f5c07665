// Instance types and what they cost, from dated data: a plan's prices are estimates as of that date.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace radl {

struct InstanceType {
  std::string provider, region, name;
  double cpu = 0;  // virtual cores
  double memory_bytes = 0;
  double gpu = 0;
  double price_per_hour = 0;
};

struct Catalog {
  std::string as_of;   // "2025-01-15"
  std::string source;  // where the figures are from
  std::string currency;
  std::vector<InstanceType> types;

  // The cheapest type that has at least that much; among equal prices the first by name. nullopt: none has.
  std::optional<InstanceType> cheapest(const std::string& provider, const std::string& region, double cpu,
                                       double memory_bytes, double gpu) const;
};

// Invalid: a newer version, a missing field, a negative number, a type that is listed more than once; names
// it.
Result<Catalog> parse_catalog(std::string_view json);
// runtime/catalog/data/instances.json, as built into the program.
Result<Catalog> built_in_catalog();

}  // namespace radl
