// The element-wise kernels for: avx512_bf16 (flags in engine/kernels/CMakeLists.txt).
#include <immintrin.h>
#include "engine/kernels/elementwise.h"

#define RADL_ISA_NAME "avx512_bf16"
#define RADL_TABLES elementwise_avx512_bf16
#include "engine/kernels/simd/elementwise.inc"
