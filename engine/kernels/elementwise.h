// Element-wise and per-channel kernels over NHWC rows. One source (simd/elementwise.inc) is compiled for
// the baseline, AVX2 and AVX-512; elementwise() chooses once. "Rows" are positions, each with `channels`
// values.
//
// Typed pointers are void: they hold float or bf16 elements, by the table's type. Sums are fp32 over the
// rows of one call; callers add the results of calls in double.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/tensor/buffer.h"
#include "engine/tensor/kinds.h"

namespace radl::engine {

// z = act(x * scale + shift + r). scale and shift: per channel, both or neither null; r: null or like x.
struct PointwiseArgs {
  Act act = Act::None;
  float slope = 0;
  int channels = 0;
  const float* scale = nullptr;
  const float* shift = nullptr;
};

// d = dz * act'(pre-activation);  dx = a * d + b * x + e per channel (null: a is 1; b and e are 0, both set
// or both null);  dr = d.
struct PointwiseGradient {
  const float *a = nullptr, *b = nullptr, *e = nullptr;
  void* dx = nullptr;  // null: not computed
  bool add_dx = false;
  void* dr = nullptr;  // null: not computed
  bool add_dr = false;
};

struct PoolArgs {
  int h, w, c, oh, ow, kh, kw, sh, sw, pt, pl;
};

struct ElementwiseKernels {
  const char* isa;
  void (*from_float)(const float* x, void* y, size_t count);
  void (*to_float)(const void* x, float* y, size_t count);
  // sum[c] += x, square[c] += x*x
  void (*channel_sums)(const void* x, size_t rows, int channels, float* sum, float* square);
  void (*pointwise)(const PointwiseArgs& args, size_t rows, const void* x, const void* r, void* z);
  // sum[c] += d, sum_x[c] += d * (x - mean[c]). Also stores d in `d` unless null; may be the same as dz.
  void (*pointwise_sums)(const PointwiseArgs& args, size_t rows, const void* x, const void* r, const void* dz,
                         const float* mean, float* sum, float* sum_x, void* d);
  void (*pointwise_backward)(const PointwiseArgs& args, const PointwiseGradient& gradient, size_t rows,
                             const void* x, const void* r, const void* dz);
  // One image; `index` [oh*ow*c] receives the window position of the maximum (the first if equal).
  void (*max_pool)(const PoolArgs& args, const void* x, void* y, uint8_t* index);
  void (*max_pool_backward)(const PoolArgs& args, const void* dy, const uint8_t* index, void* dx, bool add);
  void (*average_pool)(const PoolArgs& args, const void* x, void* y);
  void (*average_pool_backward)(const PoolArgs& args, const void* dy, void* dx, bool add);
  // One image of `rows` positions.
  void (*global_max)(const void* x, size_t rows, int channels, void* y, int32_t* index);
  void (*global_mean)(const void* x, size_t rows, int channels, void* y);
  // dx (=|+=) dy / rows everywhere
  void (*global_mean_backward)(const void* dy, size_t rows, int channels, void* dx, bool add);
  // y (=|+=) factor * x
  void (*scale)(const void* x, float factor, void* y, size_t count, bool add);
  // y (=|+=) kept ? factor * x : 0, for elements first .. first + count
  void (*dropout)(const void* x, uint64_t key, uint32_t threshold, float factor, size_t first, size_t count,
                  void* y, bool add);
  // Strided copy of rows: y[row * y_stride + c] (=|+=) x[row * x_stride + c]
  void (*copy_rows)(const void* x, size_t x_stride, void* y, size_t y_stride, size_t rows, int channels,
                    bool add);
  // LayerNorm of each row; saved receives mean and 1/deviation per row.
  void (*layer_norm)(const void* x, size_t rows, int channels, float eps, const float* gamma,
                     const float* beta, void* y, float* saved);
  // dgamma, dbeta += (may be null); dx (=|+=)
  void (*layer_norm_backward)(const void* x, const void* dy, size_t rows, int channels, const float* gamma,
                              const float* saved, float* dgamma, float* dbeta, void* dx, bool add);
};

// The best table for the type on this computer; the baseline table if `best` is false (for tests).
const ElementwiseKernels& elementwise(Type type, bool best = true);

}  // namespace radl::engine
