// Convolution as an unfolded GEMM with Eigen. Runs on every processor, for every geometry.
#pragma once

#include "engine/kernels/conv.h"

namespace radl::engine {

std::unique_ptr<ConvKernel> make_eigen_conv(const ConvRequest& request);

}  // namespace radl::engine
