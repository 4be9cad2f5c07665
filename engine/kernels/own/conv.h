// Our own convolutions, direct and Winograd (docs/engine-kernels.md describes the blocking).
#pragma once

#include "engine/kernels/conv.h"

namespace radl::engine {

// Why the own kernels cannot or should not take it on this computer; empty when they do.
std::string own_conv_refusal(const ConvRequest& request);
std::unique_ptr<ConvKernel> make_own_conv(const ConvRequest& request);

// The same for Winograd: F(2x2, 3x3), bf16 only, or F(4x4, 3x3) by `tile`.
std::string winograd_conv_refusal(const ConvRequest& request);
std::unique_ptr<ConvKernel> make_winograd_conv(const ConvRequest& request, int tile);

// What multiplies in the Winograd kernels that are made for bf16: AMX where this processor has it, otherwise
// AVX-512's bf16 dot products or, where those are slow, its fp32 products (tiles of 4x4).
enum class WinogradProducts { Avx512, Avx512Fp32, Amx, AmxEmulated };
WinogradProducts winograd_products();
bool by_tile_registers(WinogradProducts products);

// For tests: kernels made while one of these lives take this, whatever the processor has. make_conv() then
// follows the rules of a processor with AMX.
class ScopedWinogradProducts {
 public:
  explicit ScopedWinogradProducts(WinogradProducts products);
  ~ScopedWinogradProducts();
  ScopedWinogradProducts(const ScopedWinogradProducts&) = delete;
  ScopedWinogradProducts& operator=(const ScopedWinogradProducts&) = delete;

 private:
  int before_;
};
// The tile that needs fewer products of this type for these images; 0: neither of those that there are is
// worth its transforms (fp32, which has tiles of 4x4 only).
int winograd_tile(const ConvGeometry& geometry, Type products);

}  // namespace radl::engine
