// Winograd F(4x4, 3x3) of bf16 images by fp32 products, for AVX-512: for processors whose bf16 dot products
// are slower than twice as many fp32 ones.
#include <immintrin.h>

#include <array>
#include <utility>

#include "engine/kernels/own/winograd.h"

namespace radl::engine::own {
namespace {

#include "engine/kernels/own/vector_avx512.inc"
// On top of those:
#include "engine/kernels/own/winograd_bf16.inc"
#include "engine/kernels/own/winograd_work_f32.inc"
// On top of those:
#include "engine/kernels/own/winograd_common.inc"
// On top of those:
#include "engine/kernels/own/winograd4_tiles.inc"
// On top of those:
#include "engine/kernels/own/winograd4_f32.inc"

constexpr WinogradKernels kKernels = fp32_kernels("avx512, bf16 by fp32", 1);

}  // namespace

const WinogradKernels& winograd4_mixed() { return kKernels; }

}  // namespace radl::engine::own
