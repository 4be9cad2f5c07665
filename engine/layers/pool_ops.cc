// Pooling over windows and over whole images.
#include "engine/kernels/parallel.h"
#include "engine/layers/ops.h"

namespace radl::engine {

namespace {

class PoolOp : public Op {
 public:
  PoolOp(const Layer& l, Tensor* in, Tensor* out, const OpSettings& s)
      : maximum_(l.kind == Kind::MaxPool),
        in_(in),
        out_(out),
        threads_(s.threads),
        kernels_(elementwise(in->type)),
        args_{in->shape.h, in->shape.w, in->shape.c, out->shape.h, out->shape.w, l.kernel_h,
              l.kernel_w,  l.stride_h,  l.stride_w,  l.pad_top,    l.pad_left} {
    out_->wants_gradient = in->wants_gradient;
    if (maximum_) index_ = Buffer(s.batch * out->shape.size());
  }
  void plan_forward(Planner& p) override { p.use(in_), p.use(out_); }
  void plan_backward(Planner& p) override {
    if (!out_->wants_gradient) return;
    p.use(out_->gradient);
    to_in_ = p.gradient(in_);
  }
  void forward(const StepContext& s) override {
    parallel_for(threads_, s.n, 1, [&](size_t begin, size_t end, int) {
      for (size_t i = begin; i < end; ++i)
        if (maximum_)
          kernels_.max_pool(args_, in_->image(i), out_->image(i), index(i));
        else
          kernels_.average_pool(args_, in_->image(i), out_->image(i));
    });
  }
  void backward(const StepContext& s) override {
    if (!to_in_.tensor) return;
    parallel_for(threads_, s.n, 1, [&](size_t begin, size_t end, int) {
      for (size_t i = begin; i < end; ++i)
        if (maximum_)
          kernels_.max_pool_backward(args_, out_->gradient->image(i), index(i), to_in_.tensor->image(i),
                                     to_in_.add);
        else
          kernels_.average_pool_backward(args_, out_->gradient->image(i), to_in_.tensor->image(i),
                                         to_in_.add);
    });
  }
  size_t memory_bytes() const override { return index_.size(); }

 private:
  uint8_t* index(size_t image) { return index_.as<uint8_t>() + image * out_->shape.size(); }
  bool maximum_;
  Tensor *in_, *out_;
  GradientUse to_in_;
  int threads_;
  const ElementwiseKernels& kernels_;
  PoolArgs args_;
  Buffer index_;  // positions of the maxima
};

class GlobalPoolOp : public Op {
 public:
  GlobalPoolOp(bool maximum, Tensor* in, Tensor* out, const OpSettings& s)
      : maximum_(maximum), in_(in), out_(out), threads_(s.threads), kernels_(elementwise(in->type)) {
    out_->wants_gradient = in->wants_gradient;
    if (maximum_) index_.resize(static_cast<size_t>(s.batch) * in->shape.c);
  }
  void plan_forward(Planner& p) override { p.use(in_), p.use(out_); }
  void plan_backward(Planner& p) override {
    if (!out_->wants_gradient) return;
    p.use(out_->gradient);
    to_in_ = p.gradient(in_);
  }
  void forward(const StepContext& s) override {
    const int c = in_->shape.c;
    parallel_for(threads_, s.n, 1, [&](size_t begin, size_t end, int) {
      for (size_t i = begin; i < end; ++i)
        if (maximum_)
          kernels_.global_max(in_->image(i), in_->rows(1), c, out_->image(i), &index_[i * c]);
        else
          kernels_.global_mean(in_->image(i), in_->rows(1), c, out_->image(i));
    });
  }
  void backward(const StepContext& s) override {
    if (!to_in_.tensor) return;
    parallel_for(threads_, s.n, 1, [&](size_t begin, size_t end, int) {
      for (size_t i = begin; i < end; ++i)
        if (maximum_)
          in_->type == Type::Bf16 ? scatter<bf16>(i) : scatter<float>(i);
        else
          kernels_.global_mean_backward(out_->gradient->image(i), in_->rows(1), in_->shape.c,
                                        to_in_.tensor->image(i), to_in_.add);
    });
  }

 private:
  template <class T>
  void scatter(size_t image) {
    const size_t c = in_->shape.c;
    T* dx = reinterpret_cast<T*>(to_in_.tensor->image(image));
    const T* dy = reinterpret_cast<const T*>(out_->gradient->image(image));
    if (!to_in_.add) std::fill_n(dx, in_->shape.size(), T{});
    for (size_t i = 0; i < c; ++i) {
      T& to = dx[index_[image * c + i] * c + i];
      if constexpr (sizeof(T) == 2)
        to = to_bf16(to_float(to) + to_float(dy[i]));
      else
        to += dy[i];
    }
  }
  bool maximum_;
  Tensor *in_, *out_;
  GradientUse to_in_;
  int threads_;
  const ElementwiseKernels& kernels_;
  std::vector<int32_t> index_;
};

}  // namespace

std::unique_ptr<Op> make_pool_op(const Layer& layer, Tensor* in, Tensor* out, const OpSettings& settings) {
  return std::make_unique<PoolOp>(layer, in, out, settings);
}

std::unique_ptr<Op> make_global_pool_op(bool maximum, Tensor* in, Tensor* out, const OpSettings& settings) {
  return std::make_unique<GlobalPoolOp>(maximum, in, out, settings);
}

}  // namespace radl::engine
