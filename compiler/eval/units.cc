#include "compiler/eval/units.h"

namespace radl::expr {

namespace {

struct Prefix {
  char letter;
  int64_t decimal, binary;
};
constexpr Prefix kPrefixes[] = {
    {'K', 1'000, int64_t{1} << 10},
    {'M', 1'000'000, int64_t{1} << 20},
    {'G', 1'000'000'000, int64_t{1} << 30},
    {'T', 1'000'000'000'000, int64_t{1} << 40},
};
// A bare Ti is missing: the reference refuses it.
constexpr std::string_view kSizes[] = {"B",  "K",  "M",  "G",  "T",   "KB",  "MB",  "GB",
                                       "TB", "Ki", "Mi", "Gi", "KiB", "MiB", "GiB", "TiB"};
constexpr std::string_view kPerformance[] = {"ECU", "GCEU", "HRZ"};

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }

bool is_word(std::string_view text, std::string_view word) {
  if (text.size() != word.size()) return false;
  for (size_t i = 0; i < text.size(); ++i)
    if (upper(text[i]) != word[i]) return false;
  return true;
}

const Prefix* find_prefix(char letter) {
  for (const Prefix& prefix : kPrefixes)
    if (prefix.letter == upper(letter)) return &prefix;
  return nullptr;
}

}  // namespace

std::optional<int64_t> whole_size_factor(std::string_view unit) {
  if (!unit.empty() && upper(unit.back()) == 'B') unit.remove_suffix(1);
  if (unit.empty()) return 1;
  const Prefix* prefix = find_prefix(unit[0]);
  bool binary = unit.size() == 2 && upper(unit[1]) == 'I';
  if (prefix == nullptr || (unit.size() > 1 && !binary)) return std::nullopt;
  return binary ? prefix->binary : prefix->decimal;
}

std::optional<double> size_factor(std::string_view unit) {
  auto factor = whole_size_factor(unit);
  return factor ? std::optional(static_cast<double>(*factor)) : std::nullopt;
}

std::optional<int64_t> size_factor_of_ec3(std::string_view unit) {
  if (unit.empty()) return 1;
  for (std::string_view word : kPerformance)
    if (is_word(unit, word)) return 1;
  const Prefix* prefix = find_prefix(unit[0]);
  return prefix == nullptr || prefix->letter == 'T' ? std::nullopt : std::optional(prefix->binary);
}

std::span<const std::string_view> size_units() { return kSizes; }
std::span<const std::string_view> performance_units() { return kPerformance; }

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
