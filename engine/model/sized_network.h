// One set of weights for images of several sizes.
#pragma once

#include <vector>

#include "engine/model/network.h"

namespace radl::engine {

// A network for images of shape `full` that also trains on images of the shapes `smaller`: which of them
// a batch is of follows from its number of values. Everything but forward_backward() is about `full`. Invalid
// when the model cannot take a size, or has other weights for it (a linear layer over all positions).
Result<std::unique_ptr<Network>> build_sized_network(const std::string& model, InputShape full,
                                                     const std::vector<InputShape>& smaller, int classes,
                                                     const BuildOptions& options);

}  // namespace radl::engine
