// Embedding, learned positions and self-attention.
#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "engine/kernels/conv.h"
#include "engine/kernels/parallel.h"
#include "engine/layers/input_gradient.h"
#include "engine/layers/ops.h"

namespace radl::engine {

namespace {

class EmbeddingOp : public Op {
 public:
  EmbeddingOp(int vocabulary, int64_t weight, Tensor* out, const OpSettings& s)
      : vocabulary_(vocabulary),
        weight_(weight),
        out_(out),
        kernels_(elementwise(out->type)),
        row_(out->shape.c),
        indices_(static_cast<size_t>(s.batch) * out->rows(1)) {
    out_->wants_gradient = true;
  }
  void plan_forward(Planner& p) override { p.use(out_); }
  void plan_backward(Planner& p) override { p.use(out_->gradient); }
  void forward(const StepContext& s) override {
    for (size_t i = 0; i < out_->rows(s.n); ++i) {
      indices_[i] = vocabulary_index(s.images[i], vocabulary_);
      kernels_.from_float(s.parameters + weight_ + static_cast<size_t>(indices_[i]) * out_->shape.c,
                          out_->row(i), out_->shape.c);
    }
  }
  void backward(const StepContext& s) override {
    float* gradient = s.gradients + weight_;
    std::fill_n(gradient, static_cast<size_t>(vocabulary_) * out_->shape.c, 0.0f);
    for (size_t i = 0; i < out_->rows(s.n); ++i) {
      kernels_.to_float(out_->gradient->row(i), row_.data(), out_->shape.c);
      float* to = gradient + static_cast<size_t>(indices_[i]) * out_->shape.c;
      for (int c = 0; c < out_->shape.c; ++c) to[c] += row_[c];
    }
  }

 private:
  int vocabulary_;
  int64_t weight_;
  Tensor* out_;
  const ElementwiseKernels& kernels_;
  std::vector<float> row_;
  std::vector<int> indices_;
};

class PositionOp : public Op {
 public:
  PositionOp(int64_t weight, Tensor* in, Tensor* out, const OpSettings&)
      : weight_(weight), in_(in), out_(out), kernels_(elementwise(in->type)), row_(in->shape.size()) {
    out_->wants_gradient = true;
    typed_ = Buffer(in->shape.size() * size_of(in->type));
  }
  void plan_forward(Planner& p) override { p.use(in_), p.use(out_); }
  void plan_backward(Planner& p) override {
    p.use(out_->gradient);
    to_in_ = p.gradient(in_);
  }
  void forward(const StepContext& s) override {
    const size_t size = in_->shape.size();
    kernels_.from_float(s.parameters + weight_, typed_.data(), size);
    for (int i = 0; i < s.n; ++i) {
      kernels_.scale(in_->image(i), 1, out_->image(i), size, false);
      kernels_.scale(typed_.data(), 1, out_->image(i), size, true);
    }
  }
  void backward(const StepContext& s) override {
    const size_t size = in_->shape.size();
    std::fill_n(s.gradients + weight_, size, 0.0f);
    for (int i = 0; i < s.n; ++i) {
      kernels_.to_float(out_->gradient->image(i), row_.data(), size);
      for (size_t j = 0; j < size; ++j) s.gradients[weight_ + j] += row_[j];
      if (to_in_.tensor)
        kernels_.scale(out_->gradient->image(i), 1, to_in_.tensor->image(i), size, to_in_.add);
    }
  }

 private:
  int64_t weight_;
  Tensor *in_, *out_;
  GradientUse to_in_;
  const ElementwiseKernels& kernels_;
  std::vector<float> row_;
  Buffer typed_;
};

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Map = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;

// Vaswani et al. 2017. The two projections are 1x1 convolutions; the core works per image and head in fp32.
class AttentionOp : public Op {
 public:
  AttentionOp(const AttentionSpec& spec, Tensor* in, Tensor* out, const OpSettings& s, ChosenConv in_proj,
              ChosenConv out_proj)
      : spec_(spec),
        in_(in),
        out_(out),
        threads_(s.threads),
        training_(s.training),
        kernels_(elementwise(in->type)),
        in_proj_(std::move(in_proj)),
        out_proj_(std::move(out_proj)) {
    out_->wants_gradient = true;
    tokens_ = in->shape.h * in->shape.w, width_ = in->shape.c, head_ = width_ / spec.heads;
    const size_t t = tokens_, d = width_;
    prob_.resize(static_cast<size_t>(s.batch) * spec.heads * t * t);
    each_ = t * 3 * d * 2 + t * d * 2 + 2 * t * t;
    scratch_.resize(s.threads * each_);
  }
  void plan_forward(Planner& p) override {
    qkv_ = p.make({in_->shape.h, in_->shape.w, 3 * width_}, in_->type);
    context_ = p.make(in_->shape, in_->type);
    p.use(in_), p.use(qkv_), p.use(context_), p.use(out_);
  }
  void plan_backward(Planner& p) override {
    p.use(out_->gradient), p.use(in_), p.use(qkv_), p.use(context_);
    qkv_->wants_gradient = context_->wants_gradient = true;
    to_context_ = p.gradient(context_), to_qkv_ = p.gradient(qkv_);
    to_in_.plan(p, in_, *in_proj_.kernel);
    p.use(to_context_.tensor), p.use(to_qkv_.tensor);
  }
  void refresh(const StepContext& s) override {
    in_proj_.kernel->set_weights(s.parameters + spec_.in_weight, training_);
    out_proj_.kernel->set_weights(s.parameters + spec_.out_weight, training_);
  }
  void forward(const StepContext& s) override {
    in_proj_.kernel->forward(s.n * tokens_, in_->data, s.parameters + spec_.in_bias, qkv_->data, nullptr);
    parallel_for(threads_, s.n, 1, [&](size_t begin, size_t end, int thread) {
      for (size_t i = begin; i < end; ++i) core(i, thread);
    });
    out_proj_.kernel->forward(s.n * tokens_, context_->data, s.parameters + spec_.out_bias, out_->data,
                              nullptr);
  }
  void backward(const StepContext& s) override {
    const int rows = s.n * tokens_;
    const std::byte* dy = out_->gradient->data;
    out_proj_.kernel->backward_weights(rows, context_->data, dy, s.gradients + spec_.out_weight,
                                       s.gradients + spec_.out_bias);
    out_proj_.kernel->backward_data(rows, dy, to_context_.tensor->data, false);
    parallel_for(threads_, s.n, 1, [&](size_t begin, size_t end, int thread) {
      for (size_t i = begin; i < end; ++i) core_backward(i, thread);
    });
    in_proj_.kernel->backward_weights(rows, in_->data, to_qkv_.tensor->data, s.gradients + spec_.in_weight,
                                      s.gradients + spec_.in_bias);
    if (to_in_.wanted()) to_in_.run(*in_proj_.kernel, s.n, rows, to_qkv_.tensor->data, threads_);
  }
  size_t memory_bytes() const override {
    return (prob_.size() + scratch_.size()) * sizeof(float) + in_proj_.kernel->memory_bytes() +
           out_proj_.kernel->memory_bytes();
  }
  std::string kernel() const override {
    return fmt::format("{}: {}; core by eigen in fp32", in_proj_.kernel->name(), in_proj_.why);
  }
  double flop() const override { return 2.0 * tokens_ * width_ * (4.0 * width_ + 2.0 * tokens_); }

 private:
  struct Scratch {
    float *qkv, *dqkv, *context, *dcontext, *a, *b;
  };
  Scratch scratch(int thread) {
    const size_t t = tokens_, d = width_;
    float* base = scratch_.data() + thread * each_;
    return {base,
            base + t * 3 * d,
            base + t * 6 * d,
            base + t * 7 * d,
            base + t * 8 * d,
            base + t * 8 * d + t * t};
  }
  // Part 0, 1, 2 (query, key, value) of one head.
  Map part(float* qkv, int which, int head) {
    return {qkv + which * width_ + head * head_, tokens_, head_, Eigen::OuterStride<>(3 * width_)};
  }
  Map of_head(float* context, int head) {
    return {context + head * head_, tokens_, head_, Eigen::OuterStride<>(width_)};
  }
  Map square(float* p) { return {p, tokens_, tokens_, Eigen::OuterStride<>(tokens_)}; }
  Map probabilities(size_t image, int head) {
    return square(prob_.data() + (image * spec_.heads + head) * tokens_ * tokens_);
  }

  void core(size_t image, int thread) {
    Scratch s = scratch(thread);
    kernels_.to_float(qkv_->image(image), s.qkv, static_cast<size_t>(tokens_) * 3 * width_);
    for (int h = 0; h < spec_.heads; ++h) {
      Map p = probabilities(image, h);
      p.noalias() = part(s.qkv, 0, h).lazyProduct(part(s.qkv, 1, h).transpose());
      softmax_rows(p);
      of_head(s.context, h).noalias() = p.lazyProduct(part(s.qkv, 2, h));
    }
    kernels_.from_float(s.context, context_->image(image), static_cast<size_t>(tokens_) * width_);
  }
  void softmax_rows(Map& p) {
    const float scale = 1 / std::sqrt(static_cast<float>(head_));
    for (int i = 0; i < tokens_; ++i) {
      const int last = spec_.causal ? i + 1 : tokens_;
      auto row = p.row(i).head(last);
      row = ((row.array() - row.maxCoeff()) * scale).exp();
      row /= row.sum();
      p.row(i).tail(tokens_ - last).setZero();
    }
  }
  void core_backward(size_t image, int thread) {
    Scratch s = scratch(thread);
    const float scale = 1 / std::sqrt(static_cast<float>(head_));
    kernels_.to_float(qkv_->image(image), s.qkv, static_cast<size_t>(tokens_) * 3 * width_);
    kernels_.to_float(to_context_.tensor->image(image), s.dcontext, static_cast<size_t>(tokens_) * width_);
    for (int h = 0; h < spec_.heads; ++h) {
      const Map p = probabilities(image, h), dcontext = of_head(s.dcontext, h);
      Map dp = square(s.a);
      part(s.dqkv, 2, h).noalias() = p.transpose().lazyProduct(dcontext);
      dp.noalias() = dcontext.lazyProduct(part(s.qkv, 2, h).transpose());
      for (int i = 0; i < tokens_; ++i) {
        const float sum = dp.row(i).dot(p.row(i));
        dp.row(i) = (p.row(i).array() * (dp.row(i).array() - sum) * scale).matrix();
      }
      part(s.dqkv, 0, h).noalias() = dp.lazyProduct(part(s.qkv, 1, h));
      part(s.dqkv, 1, h).noalias() = dp.transpose().lazyProduct(part(s.qkv, 0, h));
    }
    kernels_.from_float(s.dqkv, to_qkv_.tensor->image(image), static_cast<size_t>(tokens_) * 3 * width_);
  }

  AttentionSpec spec_;
  Tensor *in_, *out_, *qkv_ = nullptr, *context_ = nullptr;
  GradientUse to_context_, to_qkv_;
  InputGradient to_in_;
  int threads_, tokens_, width_, head_;
  bool training_;
  const ElementwiseKernels& kernels_;
  ChosenConv in_proj_, out_proj_;
  size_t each_;
  std::vector<float> prob_, scratch_;
};

}  // namespace

std::unique_ptr<Op> make_embedding_op(int vocabulary, int64_t weight, Tensor* out, const OpSettings& s) {
  return std::make_unique<EmbeddingOp>(vocabulary, weight, out, s);
}
std::unique_ptr<Op> make_position_op(int64_t weight, Tensor* in, Tensor* out, const OpSettings& s) {
  return std::make_unique<PositionOp>(weight, in, out, s);
}
Result<std::unique_ptr<Op>> make_attention_op(const AttentionSpec& spec, Tensor* in, Tensor* out,
                                              const OpSettings& s) {
  const int rows = s.batch * in->shape.h * in->shape.w, d = in->shape.c;
  const auto project = [&](int features, bool backward_data) {
    return make_conv({{rows, 1, 1, d, 1, 1, features},
                      in->type,
                      s.threads,
                      s.training && backward_data,
                      s.training,
                      s.workspace},
                     s.kernels);
  };
  Result<ChosenConv> in_proj = project(3 * d, in->wants_gradient), out_proj = project(d, true);
  if (!in_proj) return in_proj.status();
  if (!out_proj) return out_proj.status();
  return std::unique_ptr<Op>(
      std::make_unique<AttentionOp>(spec, in, out, s, std::move(*in_proj), std::move(*out_proj)));
}

}  // namespace radl::engine
