// Exact fractions for counting machines: in floating point, a budget for exactly six workers buys five.
#pragma once

#include <cstdint>

namespace radl::foresight {

// numerator / denominator, integers; denominator above 0. Products of two of them fit into 128 bits.
struct Fraction {
  int64_t numerator = 0, denominator = 1;
};

// Negative, 0 or positive, as a is smaller than, equal to, or larger than b.
int compare(const Fraction& a, const Fraction& b);
// Rounds down.
int64_t whole(const Fraction& fraction);
double decimal(const Fraction& fraction);

}  // namespace radl::foresight
