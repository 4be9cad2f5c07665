// Winograd F(2x2, 3x3) in AVX-512: sixteen channels a vector, so that nothing is transposed; the transforms
// are additions (for which Zen 4 has pipes of their own), the products VDPBF16PS with a pair of channels
// broadcast from memory.
#include <immintrin.h>

#include "engine/kernels/own/winograd.h"

namespace radl::engine::own {
namespace {

#include "engine/kernels/own/vector_avx512.inc"
// On top of those:
#include "engine/kernels/own/winograd_bf16.inc"
#include "engine/kernels/own/winograd_work_bf16.inc"
// On top of those:
#include "engine/kernels/own/winograd_common.inc"
// On top of those:
#include "engine/kernels/own/winograd_products_bf16.inc"

// On top of those:
#include "engine/kernels/own/winograd2_tiles.inc"

// Where input() puts the values: [block][tile][j][i][16].
class PlaceWriter {
 public:
  PlaceWriter(void* values, int, int tiles, int at, int first)
      : to_(static_cast<uint16_t*>(values) + (static_cast<size_t>(first / 16) * tiles + at) * 256) {}
  // Rows i and i + 1 of column j.
  [[gnu::always_inline]] void operator()(int i, int j, __m512 low, __m512 high) const {
    _mm512_store_si512(to_ + j * 64 + i * 16, (__m512i)_mm512_cvtne2ps_pbh(high, low));
  }
  void advance(ptrdiff_t tiles) { to_ += tiles * 256; }

 private:
  uint16_t* to_;
};

// ---- products of forward and backward data ----

// A^T down the column: two values of each tile.
template <int T>
[[gnu::always_inline]] inline void down(const __m512 (&m)[4][T], int t, __m512 (&out)[2]) {
  out[0] = _mm512_add_ps(_mm512_add_ps(m[0][t], m[1][t]), m[2][t]);
  out[1] = _mm512_sub_ps(_mm512_sub_ps(m[1][t], m[2][t]), m[3][t]);
}

struct Strip {
  const uint16_t *values, *weights;
  size_t block_stride;
  int blocks;
  float* partial;
  const TileOutput* out;
};

// T tiles by 16 outputs, whole: for few input channels, whose weights stay in the first-level cache.
template <int T>
[[gnu::noinline]] void whole_tiles(const Strip& s, Emit& total) {
  __m512 y[T][2][2];
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    __m512 m[4][T];
    column_products<4, T>(s.values + j * 64, 256, s.block_stride, s.blocks,
                          s.weights + static_cast<size_t>(j) * s.blocks * 1024, m);
#pragma GCC unroll 3
    for (int t = 0; t < T; ++t) {
      __m512 d[2];
      down<T>(m, t, d);
#pragma GCC unroll 2
      for (int row = 0; row < 2; ++row) {
        y[t][row][0] = j == 0 ? d[row] : j < 3 ? _mm512_add_ps(y[t][row][0], d[row]) : y[t][row][0];
        y[t][row][1] = j == 1 ? d[row] : j > 1 ? _mm512_sub_ps(y[t][row][1], d[row]) : d[row];
      }
    }
  }
  Emit emit = total;  // in registers
#pragma GCC unroll 3
  for (int t = 0; t < T; ++t)
#pragma GCC unroll 2
    for (int row = 0; row < 2; ++row)
#pragma GCC unroll 2
      for (int column = 0; column < 2; ++column) emit(s.out[t], row, column, y[t][row][column]);
  total = emit;
}

// T tiles by the places of column j by 16 outputs; the four columns add their parts up in memory, so that the
// weights of one column serve all tiles of the strip before the next one's come into the cache.
template <int T>
[[gnu::noinline]] void tiles_by_column(const Strip& s, int j, Emit& total) {
  __m512 m[4][T];
  column_products<4, T>(s.values + j * 64, 256, s.block_stride, s.blocks, s.weights, m);
  Emit emit = total;  // in registers
#pragma GCC unroll 6
  for (int t = 0; t < T; ++t) {
    __m512 d[2];
    down<T>(m, t, d);
    float* p = s.partial + t * 64;
#pragma GCC unroll 2
    for (int row = 0; row < 2; ++row, p += 16) {
      if (j == 0) _mm512_store_ps(p, d[row]);
      if (j == 1) {
        _mm512_store_ps(p, _mm512_add_ps(_mm512_load_ps(p), d[row]));
        _mm512_store_ps(p + 32, d[row]);
      }
      if (j == 2) {
        emit(s.out[t], row, 0, _mm512_add_ps(_mm512_load_ps(p), d[row]));
        _mm512_store_ps(p + 32, _mm512_sub_ps(_mm512_load_ps(p + 32), d[row]));
      }
      if (j == 3) emit(s.out[t], row, 1, _mm512_sub_ps(_mm512_load_ps(p + 32), d[row]));
    }
  }
  total = emit;
}

constexpr void (*kWholeTiles[])(const Strip&, Emit&) = {nullptr, whole_tiles<1>, whole_tiles<2>,
                                                        whole_tiles<3>};
constexpr void (*kTilesByColumn[])(const Strip&, int, Emit&) = {nullptr,
                                                                tiles_by_column<1>,
                                                                tiles_by_column<2>,
                                                                tiles_by_column<3>,
                                                                tiles_by_column<4>,
                                                                tiles_by_column<5>,
                                                                tiles_by_column<6>};

// f(strip part, tiles) over groups of at most `most` tiles of about the same size.
template <class F>
[[gnu::always_inline]] inline void for_groups(const Strip& s, int tiles, int most, F&& f) {
  const int groups = (tiles + most - 1) / most;
  for (int group = 0; group < groups; ++group) {
    const int from = tiles * group / groups;
    Strip part = s;
    part.values += from * 256, part.partial += from * 64, part.out += from;
    f(part, tiles * (group + 1) / groups - from);
  }
}

void product(const ProductShape& s, const void* all_values, const void* all_weights, const TileOutput* out,
             float* partial) {
  const uint16_t *values = static_cast<const uint16_t*>(all_values),
                 *weights = static_cast<const uint16_t*>(all_weights);
  const size_t column = static_cast<size_t>(s.in_blocks) * 1024;
  for (int block = 0; block < blocks_of(s.channels); ++block, weights += 4 * column) {
    Emit emit(s, 16 * block);
    Strip strip{values, weights, static_cast<size_t>(s.tiles.tiles()) * 256, s.in_blocks, partial, out};
    if (s.in_blocks <= 2) {
      for_groups(strip, s.tiles.tiles(), 3, [&](const Strip& part, int t) { kWholeTiles[t](part, emit); });
    } else {
      for (int j = 0; j < 4; ++j, strip.weights += column)
        for_groups(strip, s.tiles.tiles(), 6,
                   [&](const Strip& part, int t) { kTilesByColumn[t](part, j, emit); });
    }
    emit.add_up();
  }
}

constexpr WinogradKernels kKernels{.name = "F(2x2)",
                                   .isa = "avx512_bf16",
                                   .value_bytes = 2,
                                   .work_bytes = 2,
                                   .tile = kTile,
                                   .trims = false,
                                   .places = kSide * kSide,
                                   .partial = 64,
                                   .rounding = 1.6e-2f,
                                   .pack_weights = pack_weights<Transform>,
                                   .unpack_gradient = unpack_gradient<Transform>,
                                   .input = input<PlaceWriter>,
                                   .product = product,
                                   .input_pairs = input_pairs,
                                   .gradient_pairs = gradient_pairs,
                                   .multiply_pairs = multiply_pairs};

}  // namespace

const WinogradKernels& winograd2_bf16() { return kKernels; }

}  // namespace radl::engine::own
