// The simulated cloud's instance types and what they cost: invented, and fixed, so that plans and tests can
// rely on them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/base/money.h"

namespace radl::simulated {

inline constexpr double kGiB = 1073741824.0;  // bytes

struct Machine {
  std::string_view name;
  double cpu;  // virtual cores
  double memory_gib;
  double gpu;
  double price;  // per hour, in the region's currency
};

std::span<const Machine> machines();  // from the cheapest to the dearest
const Machine* machine(std::string_view name);

inline constexpr std::string_view kRegions[] = {"eu", "us"};
inline constexpr std::string_view kZones[] = {"a", "b", "c"};  // of each region

// Prices of "eu" are in EUR, of "us" in USD and a little lower.
Money machine_price(const std::string& region, const Machine& machine, bool spot);
Money volume_price(const std::string& region, double gib);
Money address_price(const std::string& region);

}  // namespace radl::simulated
