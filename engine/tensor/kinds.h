// Names that kernels and models share.
#pragma once

namespace radl::engine {

enum class Act { None, Relu, LeakyRelu, Gelu, Silu, Tanh, Sigmoid, Elu, HardSwish };

// What one forward pass over a batch gave.
struct StepResult {
  double loss = 0;  // mean over the batch
  int correct = 0;  // top-1
};

}  // namespace radl::engine
