// Names shared by kernels and models.
#pragma once

namespace radl::engine {

enum class Act { None, Relu, LeakyRelu, Gelu, Silu, Tanh, Sigmoid, Elu, HardSwish };

// The result of one forward pass over a batch.
struct StepResult {
  double loss = 0;  // mean over the batch
  int correct = 0;  // top-1
};

}  // namespace radl::engine
