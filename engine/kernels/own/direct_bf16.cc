// Inner kernels in bf16: VDPBF16PS adds the two products of a pair to an fp32 lane.
#include <immintrin.h>

#include <cstring>

#include "engine/kernels/own/direct.h"

namespace radl::engine::own {
namespace {

using Value = uint16_t;
constexpr int kPerUnit = 2;

[[gnu::always_inline]] inline __m512 dot(__m512 acc, __m512i w, __m512i x) {
  return _mm512_dpbf16_ps(acc, (__m512bh)w, (__m512bh)x);
}
[[gnu::always_inline]] inline __m512 to_floats(const Value* p, int lanes) {
  const __mmask16 mask = static_cast<__mmask16>((1u << lanes) - 1);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, p)), 16));
}
[[gnu::always_inline]] inline void from_floats(Value* p, __m512 v, int lanes) {
  const __mmask16 mask = static_cast<__mmask16>((1u << lanes) - 1);
  _mm256_mask_storeu_epi16(p, mask, (__m256i)_mm512_cvtneps_pbh(v));
}
// Up to 16 values: 8 units.
[[gnu::always_inline]] inline __m256i load_units(const Value* p, __mmask16 mask) {
  return _mm256_maskz_loadu_epi16(mask, p);
}

#include "engine/kernels/own/transpose.inc"

// 16 positions (rows of `stride` values) by 16 channels, transposed; what is missing is zero.
void transpose_values(const Value* x, int stride, int positions, int channels, Value (&out)[16][16]) {
  const __mmask16 mask = static_cast<__mmask16>((1u << channels) - 1);
  __m256i r[16], t[16];
  for (int i = 0; i < 16; ++i)
    r[i] = i < positions ? _mm256_maskz_loadu_epi16(mask, x + static_cast<size_t>(i) * stride)
                         : _mm256_setzero_si256();
  // Pairs of positions: [c0p0 c0p1 c1p0 c1p1 ...], so that channels become 32-bit units; then an 8x8
  // transpose of units on the lower and upper channels.
  for (int i = 0; i < 8; ++i) {
    const __m256i low = _mm256_unpacklo_epi16(r[2 * i], r[2 * i + 1]),
                  high = _mm256_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
    t[i] = _mm256_permute2x128_si256(low, high, 0x20);      // channels 0-7
    t[8 + i] = _mm256_permute2x128_si256(low, high, 0x31);  // channels 8-15
  }
  transpose8(*reinterpret_cast<__m256i(*)[8]>(t));
  transpose8(*reinterpret_cast<__m256i(*)[8]>(t + 8));
  for (int i = 0; i < 16; ++i) _mm256_store_si256(reinterpret_cast<__m256i*>(out[i]), t[i]);
}

#include "engine/kernels/own/direct.inc"

// Rows of dy to [row][block][pair of positions][16 channels][2].
void pack_dy(int ow, int oc, int blocks, int units, const void* dy_, int rows, void* out_) {
  const Value* dy = static_cast<const Value*>(dy_);
  Value* out = static_cast<Value*>(out_);
  alignas(64) static constexpr uint16_t kInterleave[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                           21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                           11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  const __m512i interleave = _mm512_load_si512(kInterleave);
  for (int row = 0; row < rows; ++row, dy += static_cast<size_t>(ow) * oc)
    for (int block = 0; block < blocks; ++block) {
      const int lanes = oc - 16 * block < 16 ? oc - 16 * block : 16;
      const __mmask16 mask = static_cast<__mmask16>((1u << lanes) - 1);
      for (int u = 0; u < units; ++u, out += 32) {
        const Value* at = dy + static_cast<size_t>(2 * u) * oc + 16 * block;
        const __m256i a = _mm256_maskz_loadu_epi16(mask, at);
        const __m256i b = 2 * u + 1 < ow ? _mm256_maskz_loadu_epi16(mask, at + oc) : _mm256_setzero_si256();
        const __m512i both = _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
        _mm512_store_si512(out, _mm512_permutexvar_epi16(interleave, both));
      }
    }
}

constexpr DirectKernels kKernels{kPerUnit, 8, pack, band, pack_x, pack_dy, weights};

}  // namespace

const DirectKernels& direct_bf16() { return kKernels; }

}  // namespace radl::engine::own
