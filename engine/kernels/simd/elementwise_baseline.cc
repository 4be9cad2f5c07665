// The element-wise kernels for: baseline (flags in engine/kernels/CMakeLists.txt).
#include "engine/kernels/elementwise.h"

#define RADL_ISA_NAME "baseline"
#define RADL_TABLES elementwise_baseline
#include "engine/kernels/simd/elementwise.inc"
