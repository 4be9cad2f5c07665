#include "engine/loss/softmax.h"

#include "engine/kernels/ref/loss.h"

namespace radl::engine {

StepResult softmax_cross_entropy(const float* logits, const int32_t* labels, int n, int classes,
                                 float smoothing, float* gradient) {
  return ref::softmax_cross_entropy<float>(logits, labels, n, classes, smoothing, gradient);
}

}  // namespace radl::engine
