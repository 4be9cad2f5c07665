// Our own convolutions, direct and Winograd (docs/engine.md describes the blocking).
#pragma once

#include "engine/kernels/conv.h"

namespace radl::engine {

// Why the own kernels cannot or should not take it on this machine; empty when they do.
std::string own_conv_refusal(const ConvRequest& request);
std::unique_ptr<ConvKernel> make_own_conv(const ConvRequest& request);

// The same for Winograd: F(2x2, 3x3) or F(4x4, 3x3) by `tile`.
std::string winograd_conv_refusal(const ConvRequest& request);
std::unique_ptr<ConvKernel> make_winograd_conv(const ConvRequest& request, int tile);
// The tile that needs fewer products for these pictures.
int winograd_tile(const ConvGeometry& geometry);

}  // namespace radl::engine
