// Convolutions by oneDNN. Primitives and their scratch memory are created once per batch size.
#pragma once

#include "engine/kernels/conv.h"

namespace radl::engine {

// Null if oneDNN has no optimized kernel for it on this computer.
std::unique_ptr<ConvKernel> make_onednn_conv(const ConvRequest& request);

}  // namespace radl::engine
