// The element-wise kernels for: avx512 (flags in engine/kernels/CMakeLists.txt).
#include <immintrin.h>

#include "engine/kernels/elementwise.h"

#define RADL_ISA_NAME "avx512"
#define RADL_TABLES elementwise_avx512
#include "engine/kernels/simd/elementwise.inc"
