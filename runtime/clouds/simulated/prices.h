// The simulated cloud's instance types and prices: invented and fixed, so that plans and tests can rely on
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/catalog/catalog.h"

namespace radl::simulated {

inline constexpr double kGiB = 1073741824.0;  // bytes

inline constexpr std::string_view kRegions[] = {"eu", "us"};
inline constexpr std::string_view kZones[] = {"a", "b", "c"};  // of each region

// From cheapest to most expensive. Prices of "eu" are in EUR, of "us" in USD and slightly lower.
const std::vector<InstanceType>& instance_types(const std::string& region);
const InstanceType* instance_type(const std::string& region, std::string_view name);  // nullptr: none

Money volume_price(const std::string& region, double gib);
Money address_price(const std::string& region);

}  // namespace radl::simulated
