// Inner kernels of the direct convolutions: plain functions over packed scratch memory, compiled for AVX-512
// with bf16 dot products (direct_bf16.cc) and for AVX-512 in fp32 (direct_f32.cc). docs/engine-kernels.md has
// a drawing.
//
// A "unit" is the 32 bits of one dot-product lane: two bf16 values, or one float. Vectors hold 16 output
// channels; the other operand is a unit broadcast to all lanes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace radl::engine::own {

// Layout of NHWC image rows in scratch: [row][unit][column], where a unit is neighboring channels.
struct PackShape {
  int h = 0, w = 0, c = 0;  // the source image
  int units = 0;            // channel units per position, ceil(c / values per unit)
  int columns = 0;          // 32-bit words per (row, unit) in scratch
  int top = 0, left = 0;    // padding; may be 0
  int insert_h = 1,
      insert_w = 1;  // distance of source positions in scratch (2: zeros in between, for strided gradients)
};

// A band of output rows computed from scratch.
struct BandShape {
  int units = 0, columns = 0;
  int kh = 1, kw = 1, dh = 1, dw = 1;
  int sh = 1, sw = 1;      // sw is 1 or 2
  int ow = 0;              // output positions in a row
  int oc = 0, blocks = 0;  // blocks = ceil(oc / 16)
};

// Weight gradient over packed images. x: [channel][row][phase][column] single values; dy: [row][block] [unit
// of neighboring positions][16 channels].
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
  // Packs scratch rows [first, first + count) of an image (`x` points to its first value). Zeroes rows
  // outside the image.
  void (*pack)(const PackShape& s, const void* x, int first, int count, uint32_t* scratch);
  // weights: [block][ky][kx][unit][16] units. y points to the band's first output. sums: null or [2][blocks *
  // 16], which are added to.
  void (*band)(const BandShape& s, const uint32_t* scratch, const void* weights, const float* bias, int rows,
               void* y, bool add, float* sums);
  // Packs one image's x for the weight gradient, at row `row` of each channel. Requires zeroed padding
  // columns.
  void (*pack_x)(const WeightShape& s, const PackShape& p, const void* x, int row, void* out);
  void (*pack_dy)(int ow, int oc, int blocks, int units, const void* dy, int rows, void* out);
  // Adds to partial: [block][ky][kx][c_padded][16] floats.
  void (*weights)(const WeightShape& s, const void* x, const void* dy, float* partial);
};

const DirectKernels& direct_bf16();
const DirectKernels& direct_f32();

}  // namespace radl::engine::own
