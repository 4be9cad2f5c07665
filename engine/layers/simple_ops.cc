// Input, conversion, scaling, dropout, sums and concatenation.
#include "engine/kernels/parallel.h"
#include "engine/kernels/random.h"
#include "engine/layers/ops.h"

namespace radl::engine {

namespace {

constexpr size_t kGrain = 1024;  // elements

class InputOp : public Op {
 public:
  InputOp(Tensor* out, const OpSettings& s)
      : out_(out), threads_(s.threads), kernels_(elementwise(out->type)) {}
  void plan_forward(Planner& p) override { p.use(out_); }
  void plan_backward(Planner&) override {}
  void forward(const StepContext& s) override {
    parallel_for(threads_, out_->elements(s.n), kGrain, [&](size_t begin, size_t end, int) {
      kernels_.from_float(s.images + begin, out_->data + begin * size_of(out_->type), end - begin);
    });
  }
  void backward(const StepContext&) override {}

 private:
  Tensor* out_;
  int threads_;
  const ElementwiseKernels& kernels_;
};

// bf16 <-> fp32 around the last layers.
class ConvertOp : public Op {
 public:
  ConvertOp(Tensor* in, Tensor* out, const OpSettings& s) : in_(in), out_(out), batch_(s.batch) {
    out_->wants_gradient = in->wants_gradient;
  }
  void plan_forward(Planner& p) override { p.use(in_), p.use(out_); }
  void plan_backward(Planner& p) override {
    if (!out_->wants_gradient) return;
    p.use(out_->gradient);
    to_in_ = p.gradient(in_);
    if (to_in_.add) added_ = Buffer(batch_ * in_->shape.size() * size_of(in_->type));
  }
  void forward(const StepContext& s) override {
    convert(*in_, *out_, in_->data, out_->data, in_->elements(s.n));
  }
  void backward(const StepContext& s) override {
    if (!to_in_.tensor) return;
    const size_t count = in_->elements(s.n);
    std::byte* to = to_in_.add ? added_.data() : to_in_.tensor->data;
    convert(*out_, *in_, out_->gradient->data, to, count);
    if (to_in_.add) elementwise(in_->type).scale(to, 1, to_in_.tensor->data, count, true);
  }
  size_t memory_bytes() const override { return added_.size(); }

 private:
  static void convert(const Tensor& from, const Tensor& to, const std::byte* x, std::byte* y, size_t count) {
    if (from.type == Type::F32)
      elementwise(to.type).from_float(reinterpret_cast<const float*>(x), y, count);
    else
      elementwise(from.type).to_float(x, reinterpret_cast<float*>(y), count);
  }
  Tensor *in_, *out_;
  GradientUse to_in_;
  size_t batch_;
  Buffer added_;
};

class ScaleOp : public Op {
 public:
  ScaleOp(float factor, Tensor* in, Tensor* out, const OpSettings& s)
      : factor_(factor), in_(in), out_(out), threads_(s.threads), kernels_(elementwise(in->type)) {
    out_->wants_gradient = in->wants_gradient;
  }
  void plan_forward(Planner& p) override { p.use(in_), p.use(out_); }
  void plan_backward(Planner& p) override {
    if (!out_->wants_gradient) return;
    p.use(out_->gradient);
    to_in_ = p.gradient(in_, out_->gradient);
  }
  void forward(const StepContext& s) override { run(in_->data, out_->data, in_->elements(s.n), false); }
  void backward(const StepContext& s) override {
    if (to_in_.tensor) run(out_->gradient->data, to_in_.tensor->data, in_->elements(s.n), to_in_.add);
  }

 private:
  void run(const std::byte* x, std::byte* y, size_t count, bool add) {
    const size_t element = size_of(in_->type);
    parallel_for(threads_, count, kGrain, [&](size_t begin, size_t end, int) {
      kernels_.scale(x + begin * element, factor_, y + begin * element, end - begin, add);
    });
  }
  float factor_;
  Tensor *in_, *out_;
  GradientUse to_in_;
  int threads_;
  const ElementwiseKernels& kernels_;
};

// Srivastava et al. 2014, scaled in training; the mask is recomputed from (seed, layer, step, element).
class DropoutOp : public Op {
 public:
  DropoutOp(float rate, int layer_index, Tensor* in, Tensor* out, const OpSettings& s)
      : rate_(rate),
        index_(layer_index),
        in_(in),
        out_(out),
        threads_(s.threads),
        kernels_(elementwise(in->type)) {
    out_->wants_gradient = in->wants_gradient;
  }
  void plan_forward(Planner& p) override { p.use(in_), p.use(out_); }
  void plan_backward(Planner& p) override {
    if (!out_->wants_gradient) return;
    p.use(out_->gradient);
    to_in_ = p.gradient(in_, out_->gradient);
  }
  void forward(const StepContext& s) override { run(s, in_->data, out_->data, false); }
  void backward(const StepContext& s) override {
    if (to_in_.tensor) run(s, out_->gradient->data, to_in_.tensor->data, to_in_.add);
  }

 private:
  void run(const StepContext& s, const std::byte* x, std::byte* y, bool add) {
    const size_t element = size_of(in_->type);
    const uint32_t threshold =
        s.training ? static_cast<uint32_t>(static_cast<double>(rate_) * 4294967296.0) : 0;
    const uint64_t key = dropout_key(s.seed, index_, s.step);
    const float factor = s.training ? 1 / (1 - rate_) : 1;
    parallel_for(threads_, in_->elements(s.n), kGrain, [&](size_t begin, size_t end, int) {
      kernels_.dropout(x + begin * element, key, threshold, factor, begin, end - begin, y + begin * element,
                       add);
    });
  }
  float rate_;
  int index_;
  Tensor *in_, *out_;
  GradientUse to_in_;
  int threads_;
  const ElementwiseKernels& kernels_;
};

// Sum (every input whole) or concatenation (inputs side by side in the channels).
class JoinOp : public Op {
 public:
  JoinOp(bool concat, std::vector<Tensor*> in, Tensor* out, const OpSettings& s)
      : concat_(concat),
        in_(std::move(in)),
        out_(out),
        to_in_(in_.size()),
        threads_(s.threads),
        kernels_(elementwise(out->type)) {
    for (const Tensor* t : in_) out_->wants_gradient |= t->wants_gradient;
  }
  void plan_forward(Planner& p) override {
    for (Tensor* t : in_) p.use(t);
    p.use(out_);
  }
  void plan_backward(Planner& p) override {
    if (!out_->wants_gradient) return;
    p.use(out_->gradient);
    for (size_t i = 0; i < in_.size(); ++i) to_in_[i] = p.gradient(in_[i]);
  }
  void forward(const StepContext& s) override {
    size_t first = 0;
    for (size_t i = 0; i < in_.size(); ++i) {
      const Tensor& in = *in_[i];
      copy(s, in.data, in.shape.c, out_->data + first * size_of(out_->type), out_->shape.c, in.shape.c,
           !concat_ && i > 0);
      if (concat_) first += in.shape.c;
    }
  }
  void backward(const StepContext& s) override {
    if (!out_->wants_gradient) return;
    size_t first = 0;
    for (size_t i = 0; i < in_.size(); ++i) {
      const int c = in_[i]->shape.c;
      const std::byte* from = out_->gradient->data + first * size_of(out_->type);
      if (to_in_[i].tensor) copy(s, from, out_->shape.c, to_in_[i].tensor->data, c, c, to_in_[i].add);
      if (concat_) first += c;
    }
  }

 private:
  void copy(const StepContext& s, const std::byte* x, size_t x_stride, std::byte* y, size_t y_stride,
            int channels, bool add) {
    const size_t element = size_of(out_->type);
    parallel_for(threads_, out_->rows(s.n), 64, [&](size_t begin, size_t end, int) {
      kernels_.copy_rows(x + begin * x_stride * element, x_stride, y + begin * y_stride * element, y_stride,
                         end - begin, channels, add);
    });
  }
  bool concat_;
  std::vector<Tensor*> in_;
  Tensor* out_;
  std::vector<GradientUse> to_in_;
  int threads_;
  const ElementwiseKernels& kernels_;
};

}  // namespace

std::unique_ptr<Op> make_input_op(Tensor* out, const OpSettings& s) {
  return std::make_unique<InputOp>(out, s);
}
std::unique_ptr<Op> make_convert_op(Tensor* in, Tensor* out, const OpSettings& s) {
  return std::make_unique<ConvertOp>(in, out, s);
}
std::unique_ptr<Op> make_scale_op(float factor, Tensor* in, Tensor* out, const OpSettings& s) {
  return std::make_unique<ScaleOp>(factor, in, out, s);
}
std::unique_ptr<Op> make_dropout_op(float rate, int layer, Tensor* in, Tensor* out, const OpSettings& s) {
  return std::make_unique<DropoutOp>(rate, layer, in, out, s);
}
std::unique_ptr<Op> make_sum_op(std::vector<Tensor*> in, Tensor* out, const OpSettings& s) {
  return std::make_unique<JoinOp>(false, std::move(in), out, s);
}
std::unique_ptr<Op> make_concat_op(std::vector<Tensor*> in, Tensor* out, const OpSettings& s) {
  return std::make_unique<JoinOp>(true, std::move(in), out, s);
}

}  // namespace radl::engine
