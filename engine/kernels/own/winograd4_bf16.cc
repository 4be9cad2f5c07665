// Winograd F(4x4, 3x3) in AVX-512: four times fewer products than a plain convolution, as VDPBF16PS.
#include <immintrin.h>

#include "engine/kernels/own/winograd.h"

namespace radl::engine::own {
namespace {

#include "engine/kernels/own/winograd_common.inc"

// On top of those:
#include "engine/kernels/own/winograd4_tiles.inc"

// ---- products of forward and backward data ----

constexpr int kGroup = 4;                     // tiles whose sums of one column fit into the registers
constexpr int kPartial = kTile * kSide * 16;  // floats a tile: [row][j][16]

// A^T down column j of T tiles, into `partial`.
template <int T>
[[gnu::noinline]] void column_of_tiles(const uint16_t* values, size_t block_stride, int blocks,
                                       const uint16_t* weights, float* partial) {
  __m512 m[kSide][T];
  column_products<kSide, T>(values, kSide * 16, block_stride, blocks, weights, m);
#pragma GCC unroll 4
  for (int t = 0; t < T; ++t) {
    const __m512 column[kSide] = {m[0][t], m[1][t], m[2][t], m[3][t], m[4][t], m[5][t]};
    __m512 down[kTile];
    Transform::output(column, down);
#pragma GCC unroll 4
    for (int row = 0; row < kTile; ++row)
      _mm512_store_ps(partial + t * kPartial + row * kSide * 16, down[row]);
  }
}

constexpr void (*kColumnOfTiles[])(const uint16_t*, size_t, int, const uint16_t*, float*) = {
    nullptr, column_of_tiles<1>, column_of_tiles<2>, column_of_tiles<3>, column_of_tiles<4>};

// A^T across the rows of one tile, and out.
[[gnu::always_inline]] inline void finish_tile(const float* partial, const TileOutput& out, Emit& emit) {
#pragma GCC unroll 4
  for (int row = 0; row < kTile; ++row) {
    __m512 m[kSide], y[kTile];
#pragma GCC unroll 6
    for (int j = 0; j < kSide; ++j) m[j] = _mm512_load_ps(partial + (row * kSide + j) * 16);
    Transform::output(m, y);
#pragma GCC unroll 4
    for (int column = 0; column < kTile; ++column) emit(out, row, column, y[column]);
  }
}

void product(const ProductShape& s, const uint16_t* values, const uint16_t* weights, const TileOutput* out,
             float* partial) {
  const size_t weight_column = static_cast<size_t>(s.in_blocks) * 8 * kSide * 32;
  const size_t block_stride = static_cast<size_t>(s.tiles) * kSide * 16, column = block_stride * s.in_blocks;
  // Tiles that go through all columns before the next ones: their sums stay in the first-level cache, and the
  // weights of a column serve all of them.
  const int most = s.in_blocks == 1 ? kGroup : 4 * kGroup;
  for (int block = 0; block < blocks_of(s.channels); ++block, weights += kSide * weight_column) {
    Emit total(s, block);
    for (int first = 0; first < s.tiles; first += most) {
      const int tiles = s.tiles - first < most ? s.tiles - first : most;
      for (int j = 0; j < kSide; ++j)
        for (int t = 0; t < tiles; t += kGroup)
          kColumnOfTiles[tiles - t < kGroup ? tiles - t : kGroup](
              values + j * column + (first + t) * kSide * 16, block_stride, s.in_blocks,
              weights + j * weight_column, partial + t * kPartial + j * 16);
      Emit emit = total;  // in registers
      for (int t = 0; t < tiles; ++t) finish_tile(partial + t * kPartial, out[first + t], emit);
      total = emit;
    }
    total.add_up();
  }
}

constexpr WinogradKernels kKernels{.name = "F(4x4)",
                                   .isa = "avx512_bf16",
                                   .tile = kTile,
                                   .places = kSide * kSide,
                                   .partial = kPartial,
                                   .rounding = 3e-2f,
                                   .pack_weights = pack_weights<Transform>,
                                   .unpack_gradient = unpack_gradient<Transform>,
                                   .input = input<ColumnWriter<kSide, 16, 1>>,
                                   .product = product,
                                   .input_pairs = input_pairs,
                                   .gradient_pairs = gradient_pairs,
                                   .multiply_pairs = multiply_pairs};

}  // namespace

const WinogradKernels& winograd4_bf16() { return kKernels; }

}  // namespace radl::engine::own
