// Measured peak performance of this machine, the reference for profiles.
#pragma once

#include "engine/tensor/buffer.h"

namespace radl::engine {

struct Peaks {
  double gemm_flops = 0;  // flop/s of a matrix product (4096 x 1024 by 1024 x 1024) with the fastest kernel
  double bandwidth = 0;   // bytes/s of z = x + y over arrays larger than all caches
};

// Takes about a second. The products use this type and this many threads.
Peaks measure_peaks(Type type, int threads);

}  // namespace radl::engine
