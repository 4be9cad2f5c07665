// Units behind numbers: the one table of them. Sizes: K, M, G, T (powers of 1000), Ki, Mi, Gi, Ti (of 1024),
// with or without B, in any case. Durations: ms, s, m or min, h, d. `m` behind a number is mega among sizes
// and minutes among durations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace radl::expr {

// Bytes in one unit; nullopt when it is no size unit. "" and "B" are 1.
std::optional<int64_t> whole_size_factor(std::string_view unit);
std::optional<double> size_factor(std::string_view unit);
// The same in an expression, where `m` is minutes alone: sizes and durations never mix.
std::optional<double> size_factor_of_value(std::string_view unit);
// Bytes in one unit as EC3 counts: by the first letter, K, M and G, all powers of 1024. nullopt for all else
// but "".
std::optional<int64_t> size_factor_of_ec3(std::string_view unit);
// As they are written in features, without the ones that the reference refuses; and what measures processors.
std::span<const std::string_view> size_units();
std::span<const std::string_view> performance_units();
// Seconds in one unit; "" is 1.
std::optional<double> duration_factor(std::string_view unit);

// The unit in which two numbers meet, and what each is to be multiplied with. nullopt: they do not go
// together.
struct CommonUnit {
  std::string_view unit;
  double left = 1, right = 1;
};
std::optional<CommonUnit> common_unit(std::string_view left, std::string_view right);

}  // namespace radl::expr
