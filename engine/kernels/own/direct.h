// The inner kernels of our convolutions, as plain functions over packed scratch memory; compiled for AVX-512
// with bf16 dot products (direct_bf16.cc) and for AVX-512 in fp32 (direct_f32.cc). docs/engine-kernels.md has
// the drawing.
//
// A "unit" is the 32 bits that one dot-product lane takes: two bf16 values, or one float. Vectors run over 16
// output channels; the other operand is a unit broadcast to all lanes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace radl::engine::own {

// Where rows of NHWC images go in scratch: [row][unit][column], a unit being neighbouring channels.
struct PackShape {
  int h = 0, w = 0, c = 0;  // the source image
  int units = 0;            // channel units per position, ceil(c / values per unit)
  int columns = 0;          // 32-bit words per (row, unit) in scratch
  int top = 0, left = 0;    // padding; may be 0
  int insert_h = 1,
      insert_w = 1;  // distance of source positions in scratch (2: zeros between, for strided gradients)
};

// A band of output rows computed from scratch.
struct BandShape {
  int units = 0, columns = 0;
  int kh = 1, kw = 1, dh = 1, dw = 1;
  int sh = 1, sw = 1;      // 1 or 2 for sw
  int ow = 0;              // output positions in a row
  int oc = 0, blocks = 0;  // blocks = ceil(oc / 16)
};

// Gradient of the weights over packed images. x: [channel][row][phase][column] single values; dy:
// [row][block] [unit of neighbouring positions][16 channels].
struct WeightShape {
  int rows = 0;                            // output rows in this pack (of one or several images)
  int rows_per_image = 0, image_rows = 0;  // output rows, and x rows, of one image
  int units = 0;                           // position units per output row
  int kh = 1, kw = 1, dh = 1, dw = 1, sh = 1, sw = 1;
  int c = 0, c_padded = 0, blocks = 0;
  int phase_columns = 0;  // values per (channel, row, phase)
  int x_rows = 0;         // rows per channel
};

struct DirectKernels {
  int values_per_unit;
  int channel_multiple;  // c_padded is a multiple of this
  // Packs scratch rows [first, first + count) of one image (`x` at its first value); rows outside are
  // zeroed.
  void (*pack)(const PackShape& s, const void* x, int first, int count, uint32_t* scratch);
  // weights: [block][ky][kx][unit][16] units. y at the band's first output; sums: null or [2][blocks * 16],
  // added to.
  void (*band)(const BandShape& s, const uint32_t* scratch, const void* weights, const float* bias, int rows,
               void* y, bool add, float* sums);
  // One image's x for the weight gradient, at row `row` of each channel; zero padding columns must be
  // there.
  void (*pack_x)(const WeightShape& s, const PackShape& p, const void* x, int row, void* out);
  void (*pack_dy)(int ow, int oc, int blocks, int units, const void* dy, int rows, void* out);
  // partial: [block][ky][kx][c_padded][16] floats, added to.
  void (*weights)(const WeightShape& s, const void* x, const void* dy, float* partial);
};

const DirectKernels& direct_bf16();
const DirectKernels& direct_f32();

}  // namespace radl::engine::own
