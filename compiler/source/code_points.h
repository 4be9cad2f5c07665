// Tables of code points.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace radl {

struct CodePointRange {
  uint32_t first, last;
};

// Is `c` in one of the ranges, which ascend?
template <size_t n>
bool in_ranges(const CodePointRange (&ranges)[n], uint32_t c) {
  auto above =
      std::upper_bound(std::begin(ranges), std::end(ranges), c,
                       [](uint32_t value, const CodePointRange& range) { return value < range.first; });
  return above != std::begin(ranges) && c <= std::prev(above)->last;
}

}  // namespace radl
