// Winograd F(4x4, 3x3) in AVX-512: four times fewer products than a plain convolution, as VDPBF16PS.
#include <immintrin.h>

#include <algorithm>

#include "engine/kernels/own/winograd.h"

namespace radl::engine::own {
namespace {

#include "engine/kernels/own/winograd_common.inc"

// On top of those:
#include "engine/kernels/own/winograd4_tiles.inc"

// ---- products of forward and backward data ----

constexpr int kGroup = 4;                     // tiles whose sums of one column fit into the registers
constexpr int kPartial = kTile * kSide * 16;  // floats a tile: [row][j][16]

// A^T down one column of T tiles, into `partial`.
template <bool kLow, int T>
[[gnu::noinline]] void column_of_tiles(const uint16_t* values, size_t block_stride, int blocks,
                                       const uint16_t* weights, float* partial) {
  __m512 m[kSide][T];
  column_products<kSide, T, kLow ? TileShapes::kDropped : -1>(values, kSide * 16, block_stride, blocks,
                                                              weights, m);
#pragma GCC unroll 4
  for (int t = 0; t < T; ++t) {
    const __m512 column[kSide] = {m[0][t], m[1][t], m[2][t], m[3][t], m[4][t], m[5][t]};
    __m512 down[kTile];
    Transform::output(column, down);
#pragma GCC unroll 4
    for (int row = 0; row < kTile - kLow; ++row)
      _mm512_store_ps(partial + t * kPartial + row * kSide * 16, down[row]);
  }
}

template <bool kLow>
constexpr void (*kColumnOfTiles[])(const uint16_t*, size_t, int, const uint16_t*, float*) = {
    nullptr, column_of_tiles<kLow, 1>, column_of_tiles<kLow, 2>, column_of_tiles<kLow, 3>,
    column_of_tiles<kLow, 4>};

// A^T across one row of a tile.
template <bool kNarrow>
[[gnu::always_inline]] inline void finish_row(const float* partial, int row, __m512 (&y)[kTile]) {
  __m512 m[kSide];
#pragma GCC unroll 6
  for (int j = 0; j < kSide; ++j)
    m[j] = dropped(kNarrow, j) ? _mm512_setzero_ps() : _mm512_load_ps(partial + (row * kSide + j) * 16);
  Transform::output(m, y);
}

template <bool kLow, bool kNarrow>
[[gnu::always_inline]] inline void finish_tile(const float* partial, const TileOutput& out, Emit& emit) {
#pragma GCC unroll 4
  for (int row = 0; row < kTile - kLow; ++row) {
    __m512 y[kTile];
    finish_row<kNarrow>(partial, row, y);
#pragma GCC unroll 4
    for (int column = 0; column < kTile - kNarrow; ++column) emit(out, row, column, y[column]);
  }
}

// The windows of one tile; a third row or column belongs to none.
template <bool kLow, bool kNarrow>
[[gnu::always_inline]] inline void pool_tile(const float* partial, const TileOutput& out, Emit& emit) {
#pragma GCC unroll 2
  for (int row = 0; row < 2 - kLow; ++row) {
    __m512 upper[kTile], lower[kTile];
    finish_row<kNarrow>(partial, 2 * row, upper);
    finish_row<kNarrow>(partial, 2 * row + 1, lower);
#pragma GCC unroll 2
    for (int c = 0; c < 2 - kNarrow; ++c)
      emit.pool(out, row, c, {upper[2 * c], upper[2 * c + 1], lower[2 * c], lower[2 * c + 1]});
  }
}

// One block of outputs.
struct BlockProduct {
  const ProductShape& s;
  const uint16_t *values, *weights;
  const TileOutput* out;
  float* partial;
};

// The tiles [begin, end), all of one shape.
template <bool kLow, bool kNarrow>
void product_of_shape(const BlockProduct& p, int begin, int end, Emit& total) {
  const int blocks = p.s.in_blocks;
  const size_t weight_column = static_cast<size_t>(blocks) * 8 * kSide * 32;
  const size_t block_stride = static_cast<size_t>(p.s.tiles.tiles()) * kSide * 16,
               column = block_stride * blocks;
  // Tiles that go through all columns before the next ones: their sums stay in the first-level cache, and the
  // weights of a column serve all of them.
  const int most = blocks == 1 ? kGroup : 4 * kGroup;
  for (int first = begin; first < end; first += most) {
    const int tiles = std::min(most, end - first), groups = (tiles + kGroup - 1) / kGroup;
    for (int j = 0; j < kSide; ++j) {
      if (dropped(kNarrow, j)) continue;
      for (int group = 0; group < groups; ++group) {
        const int t = tiles * group / groups, next = tiles * (group + 1) / groups;
        kColumnOfTiles<kLow>[next - t](p.values + j * column + (first + t) * kSide * 16, block_stride, blocks,
                                       p.weights + j * weight_column, p.partial + t * kPartial + j * 16);
      }
    }
    Emit emit = total;  // in registers
    for (int t = 0; t < tiles; ++t) {
      const float* partial = p.partial + t * kPartial;
      if (p.s.pool)
        pool_tile<kLow, kNarrow>(partial, p.out[first + t], emit);
      else
        finish_tile<kLow, kNarrow>(partial, p.out[first + t], emit);
    }
    total = emit;
  }
}

void product(const ProductShape& s, const uint16_t* values, const uint16_t* weights, const TileOutput* out,
             float* partial) {
  const size_t weight_block = static_cast<size_t>(s.in_blocks) * 8 * kSide * kSide * 32;
  const int(&end)[4] = s.tiles.end;
  for (int block = 0; block < blocks_of(s.channels); ++block, weights += weight_block) {
    const BlockProduct p{s, values, weights, out, partial};
    Emit total(s, block);
    product_of_shape<true, false>(p, 0, end[TileShapes::kLow], total);
    product_of_shape<false, false>(p, end[TileShapes::kLow], end[TileShapes::kWhole], total);
    product_of_shape<false, true>(p, end[TileShapes::kWhole], end[TileShapes::kNarrow], total);
    product_of_shape<true, true>(p, end[TileShapes::kNarrow], end[TileShapes::kLowNarrow], total);
    total.add_up();
  }
}

constexpr WinogradKernels kKernels{.name = "F(4x4)",
                                   .isa = "avx512_bf16",
                                   .tile = kTile,
                                   .trims = true,
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
