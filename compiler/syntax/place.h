// Position of a token in the current file: a Span without the file.
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
      : begin(0), end(0) {}  // the initial location of bison's C parsers: line, column, twice

  uint32_t size() const { return end - begin; }
  Span in(uint32_t file) const { return {file, begin, end}; }
  bool operator==(const Place&) const = default;
};

// From the start of `first` to the end of `last`.
inline Place cover(Place first, Place last) {
  return {std::min(first.begin, last.begin), std::max(first.end, last.end)};
}

}  // namespace radl
