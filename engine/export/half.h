// IEEE 754 binary16, the half-precision numbers of files.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace radl::engine::exporter {

// Exact: every binary16 number is a float.
inline float half_to_float(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000) << 16, exponent = (half >> 10) & 31, fraction = half & 1023;
  if (exponent == 0)
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(std::ldexp(float(fraction), -24)));
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

}  // namespace radl::engine::exporter
