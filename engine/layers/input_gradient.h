// The gradient that a convolution gives its input, set or added to what is there.
#pragma once

#include <optional>

#include "engine/kernels/conv.h"
#include "engine/kernels/parallel.h"
#include "engine/layers/op.h"

namespace radl::engine {

class InputGradient : public GradientWriter {
 public:
  void plan(Planner& p, Tensor* in, const ConvKernel& kernel) {
    use_ = p.gradient(in);
    if (use_.tensor && kernel.fuses_norm()) in->gradient_writer = this;
    if (!use_.add || kernel.adds()) return;
    in->gradient_writer = nullptr;
    apart_ = p.make(in->shape, in->type);
    p.use(apart_);
  }
  void prepare(const NormRequest& norm) override { norm_ = norm; }
  bool wanted() const { return use_.tensor != nullptr; }
  // `rows` of the kernel, of n examples.
  void run(ConvKernel& kernel, int n, int rows, const void* dy, int threads) const {
    if (norm_) return kernel.backward_to_norm(rows, dy, use_.tensor->data, use_.add, in_front());
    if (!apart_) return kernel.backward_data(rows, dy, use_.tensor->data, use_.add);
    kernel.backward_data(rows, dy, apart_->data, false);
    const size_t element = size_of(apart_->type);
    parallel_for(threads, apart_->elements(n), 1024, [&](size_t begin, size_t end, int) {
      elementwise(apart_->type)
          .scale(apart_->data + begin * element, 1, use_.tensor->data + begin * element, end - begin, true);
    });
  }

 private:
  NormInFront in_front() const {
    return {norm_->x->data, norm_->r ? norm_->r->data : nullptr,
            norm_->scale,   norm_->shift,
            norm_->mean,    norm_->relu,
            norm_->sums};
  }

  GradientUse use_;
  Tensor* apart_ = nullptr;  // where it lands before it is added
  std::optional<NormRequest> norm_;
};

}  // namespace radl::engine
