// Row sums, shared by kernels that do not fuse them.
#pragma once

#include <vector>

#include "engine/kernels/elementwise.h"
#include "engine/kernels/parallel.h"

namespace radl::engine {

// Per-channel sums and sums of squares of typed rows, in double. Their order depends only on the thread
// count.
class ChannelSums {
 public:
  ChannelSums(Type type, int channels, int threads)
      : kernels_(elementwise(type)),
        element_(size_of(type)),
        channels_(channels),
        threads_(threads),
        part_(static_cast<size_t>(threads) * 2 * channels),
        block_(static_cast<size_t>(threads) * 2 * channels) {}

  // out [2 * channels]: sums, then sums of squares.
  void run(const void* x, size_t rows, double* out);

 private:
  static constexpr size_t kRows = 512;  // rows per fp32 partial sum
  const ElementwiseKernels& kernels_;
  size_t element_;
  int channels_, threads_;
  std::vector<double> part_;
  std::vector<float> block_;
};

}  // namespace radl::engine
