// The fast network: a graph compiled to fused operations over one memory plan (docs/engine.md).
#pragma once

#include "engine/model/graph.h"

namespace radl::engine {

// options.threads must be at least 1, and options.kernels auto, eigen, onednn or own. Quota, with both
// numbers: the plan needs more memory than is available. Unsupported: the requested kernels cannot run on
// this computer.
Result<std::unique_ptr<Network>> make_planned_network(Graph graph, const BuildOptions& options);

}  // namespace radl::engine
