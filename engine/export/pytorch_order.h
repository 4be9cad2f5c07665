// Differences between the engine's and PyTorch's parameter order.
//
// The engine flattens a feature map as height, width, channels, PyTorch's nn.Flatten as channels, height,
// width. So parameters that read flattened features (linear layers, norms in between) are ordered
// differently. Files use PyTorch's names and order, so they load into the same model with nn.Flatten.
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

// Lists only the parameters that differ. Excludes group norms over flattened features: they group other
// features than PyTorch's would.
std::vector<Reorder> pytorch_order(const Graph& graph);

}  // namespace radl::engine::exporter
