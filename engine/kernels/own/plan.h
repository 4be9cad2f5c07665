// How our convolutions cut their work: scratch layouts and band sizes, worked out once per layer.
#pragma once

#include "engine/kernels/conv.h"
#include "engine/kernels/own/direct.h"

namespace radl::engine::own {

constexpr int round_up(int x, int multiple) { return (x + multiple - 1) / multiple * multiple; }

// A convolution pass from packed scratch: forward, or backward data (the convolution of dy with turned
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

// The gradient of the weights, over groups of images or bands of one.
struct WeightPlan {
  WeightShape shape;  // for a full item
  PackShape pack;
  int images = 1;     // per item, when whole images are taken
  int band_rows = 0;  // output rows per item, when an image is cut (then images == 1)
  int chunk = 0;      // > 0: pointwise
  size_t x_bytes = 0, dy_bytes = 0;
  size_t partial_floats = 0;
};

WeightPlan plan_weights(const ConvGeometry& g, const DirectKernels& kernels);

}  // namespace radl::engine::own
