// How floats travel: fp32 as they are, bf16 and fp16 rounded to nearest even (IEEE 754-2019, section 4.3.1).
#include <bit>
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

}  // namespace

size_t bytes_of(Numbers encoding, size_t count) { return count * (encoding == Numbers::Fp32 ? 4 : 2); }

void pack_numbers(Numbers encoding, std::span<const float> from, char* to) {
  if (encoding == Numbers::Fp32) {
    if (!from.empty()) std::memcpy(to, from.data(), from.size_bytes());
  } else if (encoding == Numbers::Bf16) {
    pack(from, to, to_bf16);
  } else {
    pack(from, to, to_fp16);
  }
}

void unpack_numbers(Numbers encoding, const char* from, std::span<float> to) {
  if (encoding == Numbers::Fp32) {
    if (!to.empty()) std::memcpy(to.data(), from, to.size_bytes());
  } else if (encoding == Numbers::Bf16) {
    unpack(from, to, from_bf16);
  } else {
    unpack(from, to, from_fp16);
  }
}

}  // namespace radl::engine::cluster
