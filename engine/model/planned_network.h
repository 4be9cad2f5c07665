// The fast network: a graph compiled into fused operations over one memory plan (docs/engine.md).
#pragma once

#include "engine/model/graph.h"

namespace radl::engine {

// options.threads is at least 1 and options.kernels one of auto, eigen, onednn, own. Quota, with both
// numbers, when the plan needs more memory than there is; Unsupported when the kernels asked for cannot run
// here.
Result<std::unique_ptr<Network>> make_planned_network(Graph graph, const BuildOptions& options);

}  // namespace radl::engine
