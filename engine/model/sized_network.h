// One set of weights for images of several sizes.
#pragma once

#include <vector>

#include "engine/model/network.h"

namespace radl::engine {

// A network for images of shape `full` that also trains on the shapes `smaller`; the number of values of a
// batch determines its shape. All functions except forward_backward() refer to `full`. Invalid: the model
// does not support a size, or has other weights for it (a linear layer over all positions).
Result<std::unique_ptr<Network>> build_sized_network(const std::string& model, InputShape full,
                                                     const std::vector<InputShape>& smaller, int classes,
                                                     const BuildOptions& options);

}  // namespace radl::engine
