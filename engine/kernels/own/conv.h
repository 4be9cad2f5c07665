// Our own convolutions, direct and Winograd (docs/engine.md describes the blocking).
#pragma once

#include "engine/kernels/conv.h"

namespace radl::engine {

// Why the own kernels cannot or should not take it on this machine; empty when they do.
std::string own_conv_refusal(const ConvRequest& request);
std::unique_ptr<ConvKernel> make_own_conv(const ConvRequest& request);

// The same for Winograd: F(2x2, 3x3), bf16 only, or F(4x4, 3x3) by `tile`.
std::string winograd_conv_refusal(const ConvRequest& request);
std::unique_ptr<ConvKernel> make_winograd_conv(const ConvRequest& request, int tile);

// What multiplies in the Winograd kernels that are made: AMX where this processor has it, otherwise AVX-512.
enum class WinogradProducts { Avx512, Amx, AmxEmulated };
WinogradProducts winograd_products();

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
// The tile that needs fewer products for these pictures; 0: neither of those that there are for the type is
// worth its transforms (fp32, which has tiles of 4x4 only).
int winograd_tile(const ConvGeometry& geometry, Type type);

}  // namespace radl::engine
