#include "runtime/foresight/fraction.h"

namespace radl::foresight {

int compare(const Fraction& a, const Fraction& b) {
  const __int128 left = static_cast<__int128>(a.numerator) * b.denominator,
                 right = static_cast<__int128>(b.numerator) * a.denominator;
  return left < right ? -1 : left > right ? 1 : 0;
}

int64_t whole(const Fraction& fraction) {
  const int64_t towards_zero = fraction.numerator / fraction.denominator;
  return fraction.numerator % fraction.denominator < 0 ? towards_zero - 1 : towards_zero;
}

double decimal(const Fraction& fraction) {
  return static_cast<double>(fraction.numerator) / static_cast<double>(fraction.denominator);
}

}  // namespace radl::foresight
