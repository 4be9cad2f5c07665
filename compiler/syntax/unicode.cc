#include "compiler/syntax/unicode.h"

#include <algorithm>
#include <iterator>

#include "compiler/source/code_points.h"

namespace radl {
namespace {

// Beyond ASCII, ascending.
constexpr CodePointRange kWordRanges[] = {
#include "compiler/syntax/unicode_words.inc"
};
constexpr uint32_t kZeros[] = {
#include "compiler/syntax/unicode_digits.inc"
};
struct UpperRange {
  uint32_t first, last, step;
};
constexpr UpperRange kUpperRanges[] = {
#include "compiler/syntax/unicode_upper.inc"
};

}  // namespace

bool is_word_character(uint32_t c) {
  if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  return in_ranges(kWordRanges, c);
}

bool is_upper_case(uint32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z';
  auto above = std::upper_bound(std::begin(kUpperRanges), std::end(kUpperRanges), c,
                                [](uint32_t value, const UpperRange& range) { return value < range.first; });
  if (above == std::begin(kUpperRanges)) return false;
  const UpperRange& range = *std::prev(above);
  return c <= range.last && (c - range.first) % range.step == 0;
}

int digit_value(uint32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9' ? static_cast<int>(c - '0') : -1;
  auto above = std::upper_bound(std::begin(kZeros), std::end(kZeros), c);
  if (above == std::begin(kZeros)) return -1;
  uint32_t value = c - *std::prev(above);
  return value <= 9 ? static_cast<int>(value) : -1;
}

bool is_invisible(uint32_t c) {
  return c <= 0x20 || c == 0x7F || c == 0xA0 || c == 0x85 || c == 0xFEFF || (c >= 0x2000 && c <= 0x200F) ||
         c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x3000;
}

}  // namespace radl
