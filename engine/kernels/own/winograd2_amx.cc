// Winograd F(2x2, 3x3) with AVX-512 transforms and AMX products, or with the products emulated: the same
// source for both.
#include <immintrin.h>

#include <algorithm>

#include "engine/kernels/own/amx_emulation.h"
#include "engine/kernels/own/winograd.h"

namespace radl::engine::own {
namespace {

#include "engine/kernels/own/vector_avx512.inc"
// On top of those:
#include "engine/kernels/own/winograd_bf16.inc"
#include "engine/kernels/own/winograd_work_bf16.inc"
// On top of those:
#include "engine/kernels/own/winograd_common.inc"
// On top of those:
#include "engine/kernels/own/winograd_products_bf16.inc"

// On top of those:
#include "engine/kernels/own/winograd2_tiles.inc"

// On top of those:
#include "engine/kernels/own/winograd_amx.inc"

constexpr WinogradKernels kByTiles = amx_kernels<AmxUnit>("F(2x2)", 1.6e-2f),
                          kByEmulation = amx_kernels<AmxEmulation>("F(2x2)", 1.6e-2f);

}  // namespace

const WinogradKernels& winograd2_amx(bool emulated) { return emulated ? kByEmulation : kByTiles; }

}  // namespace radl::engine::own
