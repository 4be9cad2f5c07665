// Winograd F(4x4, 3x3) in fp32 for AVX2.
#include <immintrin.h>

#include <array>
#include <utility>

#include "engine/kernels/own/winograd.h"

namespace radl::engine::own {
namespace {

#include "engine/kernels/own/vector_avx2.inc"
// On top of those:
#include "engine/kernels/own/winograd_f32.inc"
#include "engine/kernels/own/winograd_work_f32.inc"
// On top of those:
#include "engine/kernels/own/winograd_common.inc"
// On top of those:
#include "engine/kernels/own/winograd4_tiles.inc"
// On top of those:
#include "engine/kernels/own/winograd4_f32.inc"

constexpr WinogradKernels kKernels = fp32_kernels("avx2 fp32", 1);

}  // namespace

const WinogradKernels& winograd4_avx2() { return kKernels; }

}  // namespace radl::engine::own
