#include "engine/train/statistics.h"

#include <algorithm>

#include "engine/model/graph.h"

namespace radl::engine {

std::vector<float> statistics_keep(const Network& network) {
  const Graph& graph = network.graph();
  std::vector<float> out(graph.statistics_count, 1.0f);
  for (const Layer& layer : graph.layers) {
    if (layer.frozen) continue;
    for (int at : {layer.running_mean, layer.running_var}) {
      if (at < 0) continue;
      const ParameterInfo& p = graph.statistics[static_cast<size_t>(at)];
      std::fill_n(out.begin() + static_cast<long>(p.offset), p.size, 1 - layer.momentum);
    }
  }
  return out;
}

}  // namespace radl::engine
