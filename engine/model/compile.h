// Compiles layers to operations: chooses element types, fuses normalization, residual and activation, and
// joins views.
#pragma once

#include <memory>
#include <vector>

#include "engine/layers/op.h"
#include "engine/model/graph.h"
#include "engine/model/memory_plan.h"

namespace radl::engine {

struct Compiled {
  std::vector<std::unique_ptr<Op>> ops;
  Tensor* input = nullptr;   // null if the first layer reads the batch itself
  Tensor* logits = nullptr;  // fp32
};

// Returns operations in forward order, with tensors from `plan`. Activations have `type`; the last linear
// layer is fp32.
Result<Compiled> compile(const Graph& graph, Type type, const OpSettings& settings, MemoryPlan& plan);

}  // namespace radl::engine
