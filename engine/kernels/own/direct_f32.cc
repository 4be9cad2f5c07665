// Inner kernels in fp32 for AVX-512.
#include <immintrin.h>

#include <cstring>

#include "engine/kernels/own/direct.h"

namespace radl::engine::own {
namespace {

using Value = float;
constexpr int kPerUnit = 1;

[[gnu::always_inline]] inline __m512 dot(__m512 acc, __m512i w, __m512i x) {
  return _mm512_fmadd_ps(_mm512_castsi512_ps(w), _mm512_castsi512_ps(x), acc);
}
[[gnu::always_inline]] inline __m512 to_floats(const Value* p, int lanes) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << lanes) - 1), p);
}
[[gnu::always_inline]] inline void from_floats(Value* p, __m512 v, int lanes) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << lanes) - 1), v);
}
// Up to 8 values: 8 units.
[[gnu::always_inline]] inline __m256i load_units(const Value* p, __mmask16 mask) {
  return _mm256_maskz_loadu_epi32(static_cast<__mmask8>(mask), p);
}

#include "engine/kernels/own/transpose.inc"

// 16 positions (rows of `stride` values) by 16 channels, transposed; what is missing is zero.
void transpose_values(const Value* x, int stride, int positions, int channels, Value (&out)[16][16]) {
  for (int half = 0; half < 16; half += 8)
    for (int first = 0; first < 16; first += 8) {
      const int lanes = channels - first < 8 ? channels - first : 8;
      const __mmask8 mask = lanes <= 0 ? 0 : static_cast<__mmask8>((1u << lanes) - 1);
      __m256i r[8];
      for (int i = 0; i < 8; ++i)
        r[i] = half + i < positions
                   ? _mm256_maskz_loadu_epi32(mask, x + static_cast<size_t>(half + i) * stride + first)
                   : _mm256_setzero_si256();
      transpose8(r);
      for (int i = 0; i < 8; ++i) _mm256_store_si256(reinterpret_cast<__m256i*>(&out[first + i][half]), r[i]);
    }
}

#include "engine/kernels/own/direct.inc"

// Rows of dy to [row][block][position][16 channels].
void pack_dy(int ow, int oc, int blocks, int units, const void* dy_, int rows, void* out_) {
  const Value* dy = static_cast<const Value*>(dy_);
  Value* out = static_cast<Value*>(out_);
  for (int row = 0; row < rows; ++row, dy += static_cast<size_t>(ow) * oc)
    for (int block = 0; block < blocks; ++block) {
      const int lanes = oc - 16 * block < 16 ? oc - 16 * block : 16;
      for (int u = 0; u < units; ++u, out += 16)
        _mm512_store_ps(out, to_floats(dy + static_cast<size_t>(u) * oc + 16 * block, lanes));
    }
}

constexpr DirectKernels kKernels{kPerUnit, 8, pack, band, pack_x, pack_dy, weights};

}  // namespace

const DirectKernels& direct_f32() { return kKernels; }

}  // namespace radl::engine::own
