// The element-wise kernels for: avx2 (flags in engine/kernels/CMakeLists.txt).
#include "engine/kernels/elementwise.h"

#define RADL_ISA_NAME "avx2"
#define RADL_TABLES elementwise_avx2
#include "engine/kernels/simd/elementwise.inc"
