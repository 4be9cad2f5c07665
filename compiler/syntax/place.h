// Where a token stands in the file at hand: a Span without the file, which is the same for all of them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "compiler/source/source.h"

namespace radl {

struct Place {
  uint32_t begin, end;

  Place() = default;
  constexpr Place(uint32_t first, uint32_t last) : begin(first), end(last) {}
  Place(Span span) : begin(span.begin), end(span.end) {}
  constexpr Place(int, int, int, int)
      : begin(0), end(0) {}  // where bison's C parsers start: line, column, twice

  uint32_t size() const { return end - begin; }
  Span in(uint32_t file) const { return {file, begin, end}; }
  bool operator==(const Place&) const = default;
};

// From the start of the first to the end of the second.
inline Place cover(Place first, Place last) {
  return {std::min(first.begin, last.begin), std::max(first.end, last.end)};
}

}  // namespace radl
