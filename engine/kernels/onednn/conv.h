// Convolutions by oneDNN: primitives and their scratch memory are made once per batch size.
#pragma once

#include "engine/kernels/conv.h"

namespace radl::engine {

// Null when oneDNN has no optimised kernel for it on this computer.
std::unique_ptr<ConvKernel> make_onednn_conv(const ConvRequest& request);

}  // namespace radl::engine
