// Winograd F(4x4, 3x3) in AVX-512: four times fewer products than a plain convolution, as VDPBF16PS.
#include <immintrin.h>

#include <algorithm>

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
#include "engine/kernels/own/winograd4_tiles.inc"

// ---- products of forward and backward data ----

struct Groups {
  static constexpr int kMost = 1;                // vectors
  static constexpr int tiles(int) { return 4; }  // whose sums of one column fit into the registers
  static constexpr int at_a_time(int blocks) { return blocks == 1 ? 1 : 4; }
};
constexpr int kPartial = kTile * kSide * 16;  // floats a tile: [row][j][16]

// A^T down one column of T tiles, into `partial`.
template <bool kLow, int T>
[[gnu::noinline]] void column_of(const uint16_t* values, size_t block_stride, int blocks,
                                 const uint16_t* weights, float* partial) {
  V m[kSide][T];
  column_products<kSide, T, kLow ? TileShapes::kDropped : -1>(values, kSide * 16, block_stride, blocks,
                                                              weights, m);
#pragma GCC unroll 4
  for (int t = 0; t < T; ++t) {
    const V column[kSide] = {m[0][t], m[1][t], m[2][t], m[3][t], m[4][t], m[5][t]};
    V down[kTile];
    Transform::output(column, down);
#pragma GCC unroll 4
    for (int row = 0; row < kTile - kLow; ++row) store(partial + t * kPartial + row * kSide * 16, down[row]);
  }
}

template <bool kLow>
constexpr void (*kColumnOfTiles[])(const uint16_t*, size_t, int, const uint16_t*, float*) = {
    nullptr, column_of<kLow, 1>, column_of<kLow, 2>, column_of<kLow, 3>, column_of<kLow, 4>};

template <bool kLow, int>
void column_of_tiles(int tiles, const uint16_t* values, size_t block_stride, int blocks,
                     const uint16_t* weights, float* partial) {
  kColumnOfTiles<kLow>[tiles](values, block_stride, blocks, weights, partial);
}

#include "engine/kernels/own/winograd4_product.inc"

constexpr WinogradKernels kKernels{.name = "F(4x4)",
                                   .isa = "avx512_bf16",
                                   .value_bytes = 2,
                                   .work_bytes = 2,
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
