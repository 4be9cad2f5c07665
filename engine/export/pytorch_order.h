// Where our parameters are ordered differently from PyTorch's.
//
// We flatten a feature map as height, width, channels; PyTorch's nn.Flatten takes channels, height, width. So
// what reads flattened features (linear layers, and norms in between) holds them in another order. Files with
// PyTorch's names keep PyTorch's order, so that they load into the same model written with nn.Flatten.
#pragma once

#include <vector>

#include "engine/model/graph.h"

namespace radl::engine::exporter {

struct Reorder {
  bool statistic = false;  // else a parameter
  int index = 0;           // into Graph::parameters or Graph::statistics
  size_t rows = 1;         // the tensor is rows x from.size() x inner values
  size_t inner = 1;
  std::vector<int> from;  // PyTorch's position k holds our from[k]
};

// Only what differs. A group norm over flattened features groups other features than PyTorch's would; it is
// left as it is.
std::vector<Reorder> pytorch_order(const Graph& graph);

}  // namespace radl::engine::exporter
