// Counts of machines as exact fractions: in floating point a budget for exactly six workers buys five.
#pragma once

#include <cstdint>

namespace radl::foresight {

// numerator / denominator, both whole; the denominator is above 0. Products of two of them fit in 128 bits.
struct Fraction {
  int64_t numerator = 0, denominator = 1;
};

// Below 0, 0, above 0: as a is smaller than, equal to, larger than b.
int compare(const Fraction& a, const Fraction& b);
// The largest integer that is not larger.
int64_t whole(const Fraction& fraction);
double decimal(const Fraction& fraction);

}  // namespace radl::foresight
