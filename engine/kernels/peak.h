// What this machine can do at best, measured: the yardstick of a profile.
#pragma once

#include "engine/tensor/buffer.h"

namespace radl::engine {

struct Peaks {
  double gemm_flops = 0;  // flop/s of a matrix product (4096 x 1024 by 1024 x 1024), the best of our kernels
  double bandwidth = 0;   // bytes/s of z = x + y over arrays that no cache holds
};

// Takes about a second. The products have the type and run on so many threads.
Peaks measure_peaks(Type type, int threads);

}  // namespace radl::engine
