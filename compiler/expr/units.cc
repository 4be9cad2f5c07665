#include "compiler/expr/units.h"

#include <cctype>
#include <string>

namespace radl::expr {

std::optional<double> size_factor(std::string_view unit) {
  std::string word;
  for (char c : unit) word += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (!word.empty() && word.back() == 'B') word.pop_back();
  if (word.empty()) return 1;
  bool binary = word.size() == 2 && word[1] == 'I';
  if (word.size() > 1 && !binary) return std::nullopt;
  size_t power = std::string_view("KMGT").find(word[0]);
  if (power == std::string_view::npos) return std::nullopt;
  double factor = 1;
  for (size_t i = 0; i <= power; i++) factor *= binary ? 1024 : 1000;
  return factor;
}

std::optional<double> size_factor_of_value(std::string_view unit) {
  return unit == "m" ? std::nullopt : size_factor(unit);
}

std::optional<double> duration_factor(std::string_view unit) {
  if (unit.empty() || unit == "s") return 1;
  if (unit == "ms") return 0.001;
  if (unit == "m" || unit == "min") return 60;
  if (unit == "h") return 3600;
  if (unit == "d") return 86400;
  return std::nullopt;
}

std::optional<CommonUnit> common_unit(std::string_view left, std::string_view right) {
  if (left == right) return CommonUnit{left};
  // A plain number goes with nothing but itself: 2G + 1 is hardly meant.
  if (left.empty() || right.empty()) return std::nullopt;
  auto size_left = size_factor_of_value(left), size_right = size_factor_of_value(right);
  if (size_left && size_right) return CommonUnit{"B", *size_left, *size_right};
  auto time_left = duration_factor(left), time_right = duration_factor(right);
  if (time_left && time_right) return CommonUnit{"s", *time_left, *time_right};
  return std::nullopt;
}

}  // namespace radl::expr
