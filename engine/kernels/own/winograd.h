// The inner kernels of our Winograd convolutions F(2x2, 3x3) (Lavin and Gray 2016), as plain functions over
// packed scratch memory; compiled for AVX-512 with bf16 dot products (winograd_bf16.cc). docs/engine.md has
// the drawing.
//
// A "tile" is 2x2 outputs and the 4x4 inputs that they need. Its 16 transformed values ("places", row i and
// column j of the 4x4) are rounded to bf16, multiplied as 16 independent matrix products with fp32 sums, and
// transformed back. Channels come in blocks of 16, the last one may be part of one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace radl::engine::own {

constexpr int kPlaces = 16;
// For the gradient of the weights: tiles that one strip has room for, and the values from one place to the
// next (a line more than they need, so that places do not fall into the same cache sets).
constexpr int kGradientTiles = 64;
constexpr size_t kPairPlace = kGradientTiles / 2 * 32 + 32;

// Neighbouring tiles of one tile row. Rows are given by address and by the distance of their columns:
// a row outside of the picture is a zero with distance 0. Columns outside [0, w) are zero.
struct TileRow {
  const uint16_t* row[4];
  size_t step[4];
  int w = 0;
  int first = 0;  // the first tile's first column; may be negative
  int tiles = 0;
  int channels = 0;
  size_t ahead = 0;  // from a row to the one that the next tile row needs: it is fetched early
};

// Where one tile's results go.
struct TileOutput {
  uint16_t* y = nullptr;  // its first position; null: the tile does not exist
  int rows = 0, columns = 0;
};

struct ProductShape {
  int tiles = 0;          // in the strip
  int in_blocks = 0;      // of input channels
  int channels = 0;       // output channels
  size_t row_stride = 0;  // of y, in values
  const float* bias = nullptr;
  bool add = false;
  float* sums = nullptr;  // null, or [2][blocks * 16]: sums and sums of squares, added to
};

// A 3x3 filter bank in memory: tap t of output o and input i is at o * out_stride + i * in_stride + t, or at
// + 8 - t when `turned`.
struct FilterView {
  int outputs = 0, inputs = 0;
  size_t out_stride = 0, in_stride = 0;
  bool turned = false;
};

struct WinogradKernels {
  // Weights for product(), of output blocks [begin, end).
  void (*pack_weights)(const FilterView& f, const float* filters, int begin, int end, uint16_t* weights);
  // Filters' gradient, of output blocks [begin, end), from the sums of `parts` threads (see weights()).
  void (*unpack_gradient)(const FilterView& f, const float* const* sums, int parts, int begin, int end,
                          float* gradient);
  // values: [block][tile of the strip][j][i][16], from tile `at` on.
  void (*input)(const TileRow& r, int tiles_in_strip, int at, uint16_t* values);
  // values: as above; weights: [block of outputs][j][block of inputs][8 pairs][i][16 outputs][2];
  // partial: [tiles][4][16] floats of scratch.
  void (*product)(const ProductShape& s, const uint16_t* values, const uint16_t* weights,
                  const TileOutput* out, float* partial);
  // For the gradient of the weights, pairs of tiles (r.tiles is even): [block][j][i][kPairPlace], a place
  // having [pair][16 channels][2], from pair `at` on.
  void (*input_pairs)(const TileRow& r, int at, uint16_t* values);
  // The same for the gradient of the outputs: rows 0 and 1 alone are read; place 3 of either direction has
  // its sign turned.
  void (*gradient_pairs)(const TileRow& r, int at, uint16_t* values);
  // sums: [j][i][block of inputs][block of outputs][16 inputs][16 outputs], added to.
  void (*weights)(int pairs, int in_blocks, int out_blocks, const uint16_t* inputs, const uint16_t* gradients,
                  float* sums);
};

const WinogradKernels& winograd_bf16();

}  // namespace radl::engine::own
