// The engine's own convolutions, direct and Winograd (docs/engine-kernels.md describes the blocking).
#pragma once

#include "engine/kernels/conv.h"

namespace radl::engine {

// Why the own kernels cannot or should not handle the request on this computer; empty if they can.
std::string own_conv_refusal(const ConvRequest& request);
std::unique_ptr<ConvKernel> make_own_conv(const ConvRequest& request);

// Same for Winograd: F(2x2, 3x3), bf16 only, or F(4x4, 3x3), by `tile`.
std::string winograd_conv_refusal(const ConvRequest& request);
std::unique_ptr<ConvKernel> make_winograd_conv(const ConvRequest& request, int tile);

// The multiplication unit of the Winograd kernels for bf16: AMX if available, else AVX-512's bf16 dot
// products or, if those are slow, its fp32 products (4x4 tiles).
enum class WinogradProducts { Avx512, Avx512Fp32, Amx, AmxEmulated };
WinogradProducts winograd_products();
bool by_tile_registers(WinogradProducts products);

// For tests: kernels created while an instance exists use these products, whatever the processor has.
// make_conv() then follows the rules for a processor with AMX.
class ScopedWinogradProducts {
 public:
  explicit ScopedWinogradProducts(WinogradProducts products);
  ~ScopedWinogradProducts();
  ScopedWinogradProducts(const ScopedWinogradProducts&) = delete;
  ScopedWinogradProducts& operator=(const ScopedWinogradProducts&) = delete;

 private:
  int before_;
};
// The tile size with fewer products of this type for these images. 0: no available size is worth its
// transforms (fp32 has only 4x4 tiles).
int winograd_tile(const ConvGeometry& geometry, Type products);

}  // namespace radl::engine
