// Convolution as unfolded GEMM by Eigen: runs everywhere, for every geometry.
#pragma once

#include "engine/kernels/conv.h"

namespace radl::engine {

std::unique_ptr<ConvKernel> make_eigen_conv(const ConvRequest& request);

}  // namespace radl::engine
