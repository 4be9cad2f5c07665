// How floats travel: fp32 as they are, bf16 and fp16 rounded to nearest even (IEEE 754-2019, section 4.3.1).
// fp16 reaches from 6e-8 to 65504 only; before its numbers stands the exponent of two (int16) by which all of
// them were multiplied. int8 blocks are 1024 numbers, or the rest: a step (bf16, of a 127th of the largest,
// rounded down, so that packing again finds the same one) and the multiples of it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/cluster/message.h"

namespace radl::engine::cluster {
namespace {

uint16_t to_bf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);  // NaN stays NaN
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float from_bf16(uint16_t half) { return std::bit_cast<float>(static_cast<uint32_t>(half) << 16); }

uint16_t to_fp16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);   // NaN
  if (magnitude >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);  // rounds to infinity
  if (magnitude < 0x38800000) {                                              // subnormal: let the adder round
    float scaled = std::bit_cast<float>(magnitude) + 0.5f;  // ulp of [0.5,1) is 2^-24, as fp16's least
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(scaled) - 0x3f000000));
  }
  magnitude += 0xfff + (magnitude >> 13 & 1);
  return static_cast<uint16_t>(sign | (magnitude - 0x38000000) >> 13);
}

float from_fp16(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, rest = half & 0x7fff;
  if (rest >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  if (rest < 0x400) {
    float value = static_cast<float>(rest) * 0x1p-24f;
    return sign ? -value : value;
  }
  return std::bit_cast<float>(sign | ((rest << 13) + 0x38000000));
}

constexpr uint32_t kInfinity = 0x7f800000;
constexpr int kLargestExponent =
    14;                            // of the largest number when it has been multiplied: below 65504 with room
constexpr int kMostScaling = 100;  // beyond it a factor, or what it leaves, would not be a normal float

// The exponent for these numbers. From the largest as fp16 will round it, so that numbers which have been
// through fp16 give the same one again.
int scaling_of(std::span<const float> values) {
  uint32_t most = 0;
  for (float v : values) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(v) & 0x7fffffff;
    most = std::max(most, magnitude < kInfinity ? magnitude : 0);
  }
  most += 0xfff + (most >> 13 & 1);
  const int exponent = static_cast<int>(most >> 23) - 127;
  return std::min(kLargestExponent - exponent, kMostScaling);
}

template <class Convert>
void pack(std::span<const float> from, char* to, Convert convert) {
  for (size_t i = 0; i < from.size(); ++i) {
    uint16_t half = convert(from[i]);
    std::memcpy(to + 2 * i, &half, 2);
  }
}

template <class Convert>
void unpack(const char* from, std::span<float> to, Convert convert) {
  for (size_t i = 0; i < to.size(); ++i) {
    uint16_t half;
    std::memcpy(&half, from + 2 * i, 2);
    to[i] = convert(half);
  }
}

constexpr size_t kBlock = 1024;
constexpr float kMostSteps = 127;

void pack_block(std::span<const float> from, char* to) {
  float most = 0;
  bool finite = true;
  for (float v : from) {
    most = std::max(most, std::fabs(v));
    finite &= (std::bit_cast<uint32_t>(v) & kInfinity) != kInfinity;
  }
  // A step that is not finite makes all numbers of the block so.
  const auto step = static_cast<uint16_t>(finite ? std::bit_cast<uint32_t>(most / kMostSteps) >> 16 : 0x7fc0);
  std::memcpy(to, &step, 2);
  const float unit = from_bf16(step);
  if (!(unit > 0)) {
    std::memset(to + 2, 1, from.size());
    return;
  }
  for (size_t i = 0; i < from.size(); ++i)
    to[2 + i] = static_cast<char>(
        static_cast<int8_t>(std::clamp(std::nearbyint(from[i] / unit), -kMostSteps, kMostSteps)));
}

void unpack_block(const char* from, std::span<float> to) {
  uint16_t step;
  std::memcpy(&step, from, 2);
  const float unit = from_bf16(step);
  for (size_t i = 0; i < to.size(); ++i) to[i] = unit * static_cast<float>(static_cast<int8_t>(from[2 + i]));
}

// Of each block of `all` numbers: its first, and its place in the packed bytes.
template <class Do>
void for_blocks(size_t all, Do with) {
  for (size_t first = 0, at = 0; first < all; first += kBlock, at += kBlock + 2)
    with(first, std::min(kBlock, all - first), at);
}

}  // namespace

size_t bytes_of(Numbers encoding, size_t count) {
  if (count == 0) return 0;
  if (encoding == Numbers::Int8) return count + 2 * ((count + kBlock - 1) / kBlock);
  return encoding == Numbers::Fp32 ? 4 * count : encoding == Numbers::Bf16 ? 2 * count : 2 * count + 2;
}

bool all_finite(std::span<const float> values) {
  uint32_t wrong = 0;
  for (float v : values) wrong |= (std::bit_cast<uint32_t>(v) & kInfinity) == kInfinity;
  return wrong == 0;
}

void pack_numbers(Numbers encoding, std::span<const float> from, char* to) {
  if (encoding == Numbers::Fp32) {
    if (!from.empty()) std::memcpy(to, from.data(), from.size_bytes());
  } else if (encoding == Numbers::Bf16) {
    pack(from, to, to_bf16);
  } else if (encoding == Numbers::Int8) {
    for_blocks(from.size(), [&](size_t first, size_t count, size_t at) {
      pack_block(from.subspan(first, count), to + at);
    });
  } else if (!from.empty()) {
    const int16_t scaling = static_cast<int16_t>(scaling_of(from));
    std::memcpy(to, &scaling, 2);
    pack(from, to + 2, [factor = std::ldexp(1.0f, scaling)](float v) { return to_fp16(v * factor); });
  }
}

void unpack_numbers(Numbers encoding, const char* from, std::span<float> to) {
  if (encoding == Numbers::Fp32) {
    if (!to.empty()) std::memcpy(to.data(), from, to.size_bytes());
  } else if (encoding == Numbers::Bf16) {
    unpack(from, to, from_bf16);
  } else if (encoding == Numbers::Int8) {
    for_blocks(to.size(), [&](size_t first, size_t count, size_t at) {
      unpack_block(from + at, to.subspan(first, count));
    });
  } else if (!to.empty()) {
    int16_t scaling;
    std::memcpy(&scaling, from, 2);
    unpack(from + 2, to, [factor = std::ldexp(1.0f, -scaling)](uint16_t h) { return from_fp16(h) * factor; });
  }
}

}  // namespace radl::engine::cluster
