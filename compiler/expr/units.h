// Units behind numbers. Sizes: K, M, G, T (powers of 1000), Ki, Mi, Gi, Ti (of 1024), with or without B, in
// any case. Durations: ms, s, m or min, h, d. `m` behind a number is mega among sizes and minutes among
// durations.
#pragma once

#include <optional>
#include <string_view>

namespace radl::expr {

// Bytes in one unit; nullopt when it is no size unit. "" and "B" are 1.
std::optional<double> size_factor(std::string_view unit);
// The same in an expression, where `m` is minutes alone: sizes and durations never mix.
std::optional<double> size_factor_of_value(std::string_view unit);
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
