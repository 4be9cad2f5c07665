// The table of all units. Sizes: K, M, G, T (powers of 1000), Ki, Mi, Gi, Ti (powers of 1024), with or
// without B, in any case. Durations: ms, s, m or min, h, d. `m` after a number means mega for sizes and
// minutes for durations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace radl::expr {

// Bytes per unit; nullopt if it is not a size unit. "" and "B" are 1.
std::optional<int64_t> whole_size_factor(std::string_view unit);
std::optional<double> size_factor(std::string_view unit);
// Same in expressions, where `m` is always minutes: sizes and durations never mix.
std::optional<double> size_factor_of_value(std::string_view unit);
// Bytes per unit by EC3's rules: decided by the first letter K, M or G; powers of 1024. nullopt for anything
// else but "".
std::optional<int64_t> size_factor_of_ec3(std::string_view unit);
// Units that features may have, without those that the reference rejects; units of performance.
std::span<const std::string_view> size_units();
std::span<const std::string_view> performance_units();
// Seconds per unit; "" is 1.
std::optional<double> duration_factor(std::string_view unit);

// A common unit for two numbers, and the factor for each. nullopt if the units are
// incompatible.
struct CommonUnit {
  std::string_view unit;
  double left = 1, right = 1;
};
std::optional<CommonUnit> common_unit(std::string_view left, std::string_view right);

}  // namespace radl::expr
