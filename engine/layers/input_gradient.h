// The input gradient of a convolution, which it sets or adds to.
#pragma once

#include "engine/kernels/conv.h"
#include "engine/kernels/parallel.h"
#include "engine/layers/op.h"

namespace radl::engine {

class InputGradient {
 public:
  void plan(Planner& p, Tensor* in, const ConvKernel& kernel) {
    use_ = p.gradient(in);
    if (!use_.add || kernel.adds()) return;
    apart_ = p.make(in->shape, in->type);
    p.use(apart_);
  }
  bool wanted() const { return use_.tensor != nullptr; }
  // `rows` of the kernel, for n examples.
  void run(ConvKernel& kernel, int n, int rows, const void* dy, int threads) const {
    if (!apart_) return kernel.backward_data(rows, dy, use_.tensor->data, use_.add);
    kernel.backward_data(rows, dy, apart_->data, false);
    const size_t element = size_of(apart_->type);
    parallel_for(threads, apart_->elements(n), 1024, [&](size_t begin, size_t end, int) {
      elementwise(apart_->type)
          .scale(apart_->data + begin * element, 1, use_.tensor->data + begin * element, end - begin, true);
    });
  }

 private:
  GradientUse use_;
  Tensor* apart_ = nullptr;  // receives the gradient before it is added
};

}  // namespace radl::engine
