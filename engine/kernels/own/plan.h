// Work division of the own convolutions: scratch layouts and band sizes, computed once per layer.
#pragma once

#include "engine/kernels/conv.h"
#include "engine/kernels/own/direct.h"

namespace radl::engine::own {

constexpr int round_up(int x, int multiple) { return (x + multiple - 1) / multiple * multiple; }

// A convolution pass from packed scratch: forward, or backward data (the convolution of dy with flipped
// weights).
struct PassPlan {
  PackShape pack;
  BandShape band;
  int rows = 0;       // output rows of an image (1 for a chunk of positions)
  int band_rows = 0;  // output rows per band
  int chunk = 0;      // > 0: pointwise; positions per item
  size_t scratch_words = 0;
  size_t weight_words = 0;

  int bands() const { return (rows + band_rows - 1) / band_rows; }
  int scratch_rows(int output_rows) const {
    return (output_rows - 1) * band.sh + (band.kh - 1) * band.dh + 1;
  }
};

PassPlan plan_forward(const ConvGeometry& g, int per_unit);
PassPlan plan_backward_data(const ConvGeometry& g, int per_unit);

// The weight gradient, over groups of images or bands of one.
struct WeightPlan {
  WeightShape shape;  // for a full item
  PackShape pack;
  int images = 1;     // images per item, if items are whole images
  int band_rows = 0;  // output rows per item, if images are split (then images == 1)
  int chunk = 0;      // > 0: pointwise
  size_t x_bytes = 0, dy_bytes = 0;
  size_t partial_floats = 0;
};

WeightPlan plan_weights(const ConvGeometry& g, const DirectKernels& kernels);

}  // namespace radl::engine::own
