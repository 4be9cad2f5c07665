// Batch normalisation (Ioffe and Szegedy 2015), with residual addition and activation in the same pass (two
// backward: sums, then gradients).
#include <algorithm>
#include <cmath>

#include "engine/kernels/bias.h"
#include "engine/layers/pointwise_op.h"

namespace radl::engine {

namespace {

// Normalises by the running statistics: in evaluation, and a frozen layer always, as PyTorch's
// BatchNorm2d.eval().
class BatchNormOp : public PointwiseOp {
 public:
  BatchNormOp(const BatchNormSpec& spec, Tensor* x, Tensor* residual, Tensor* z, const OpSettings& s)
      : PointwiseOp(spec.pointwise, x, residual, z, s), norm_(spec) {
    const size_t c = x->shape.c;
    scale_.assign(c, 1.0f), shift_.assign(c, 0.0f), mean_.assign(c, 0.0f), inverse_.assign(c, 1.0f);
  }
  void forward(const StepContext& s) override {
    for (int c = 0; c < x_->shape.c; ++c) {
      mean_[c] = s.statistics[norm_.running_mean + c];
      inverse_[c] = 1 / std::sqrt(s.statistics[norm_.running_var + c] + norm_.eps);
      set_scale(s, c);
    }
    forward_rows(s);
  }
  void backward(const StepContext& s) override {
    PointwiseGradient g;
    g.a = scale_.data();
    if (z_->wants_gradient) backward_rows(s, arguments(), g, r_);
  }

 protected:
  const float* scale() const override { return scale_.data(); }
  const float* shift() const override { return shift_.data(); }
  void set_scale(const StepContext& s, size_t c) {
    const float gamma = norm_.gamma < 0 ? 1.0f : s.parameters[norm_.gamma + c];
    const float beta = norm_.beta < 0 ? 0.0f : s.parameters[norm_.beta + c];
    scale_[c] = gamma * inverse_[c];
    shift_[c] = beta - mean_[c] * scale_[c];
  }

  BatchNormSpec norm_;
  std::vector<float> scale_, shift_, mean_, inverse_;
};

// Normalises a training batch by its own statistics, which it adds to the running ones.
class TrainingBatchNormOp : public BatchNormOp {
 public:
  TrainingBatchNormOp(const BatchNormSpec& spec, Tensor* x, Tensor* residual, Tensor* z, ConvOp* producer,
                      const OpSettings& s)
      : BatchNormOp(spec, x, residual, z, s), channel_sums_(x->type, x->shape.c, s.threads) {
    z_->wants_gradient = z_->wants_gradient || spec.gamma >= 0 || spec.beta >= 0;
    const size_t c = x->shape.c;
    a_.assign(c, 1.0f), b_.assign(c, 0.0f), e_.assign(c, 0.0f);
    sums_.resize(2 * c);
    part_.resize(s.threads * 2 * c);
    block_.resize(s.threads * 2 * c);
    fused_sums_ = producer && producer->collect_sums(sums_.data());
  }

  void plan_backward(Planner& p) override {
    if (!z_->wants_gradient) return;
    p.use(z_->gradient), p.use(x_);
    // After norm_gradients() d lies where dz was: it is r's gradient, if that is the first.
    if (r_) p.use(r_), to_r_ = p.gradient(r_, z_->gradient);
    r_has_d_ = to_r_.tensor == z_->gradient;
    to_x_ = p.gradient(x_, r_has_d_ ? nullptr : z_->gradient);
  }

  void forward(const StepContext& s) override {
    if (!s.training) return BatchNormOp::forward(s);
    batch_statistics(s);
    forward_rows(s);
  }

  void backward(const StepContext& s) override {
    if (!z_->wants_gradient) return;
    PointwiseArgs args = arguments();
    norm_gradients(s, args);
    args.act = Act::None;
    PointwiseGradient g;
    g.a = a_.data(), g.b = b_.data(), g.e = e_.data();
    backward_rows(s, args, g, nullptr);
  }

 private:
  static constexpr size_t kRows = 512;  // per fp32 partial sum

  // The running variance is the unbiased one, as in PyTorch.
  void batch_statistics(const StepContext& s) {
    const double count = static_cast<double>(x_->rows(s.n));
    if (!fused_sums_) channel_sums_.run(x_->data, x_->rows(s.n), sums_.data());
    const size_t channels = x_->shape.c;
    for (size_t c = 0; c < channels; ++c) {
      const double mean = sums_[c] / count, variance = variance_of(mean, sums_[channels + c] / count);
      mean_[c] = static_cast<float>(mean);
      inverse_[c] = static_cast<float>(1 / std::sqrt(variance + norm_.eps));
      float& running_mean = s.statistics[norm_.running_mean + c];
      float& running_var = s.statistics[norm_.running_var + c];
      const double unbiased = count > 1 ? variance * count / (count - 1) : variance;
      running_mean = (1 - norm_.momentum) * running_mean + norm_.momentum * static_cast<float>(mean);
      running_var = (1 - norm_.momentum) * running_var + norm_.momentum * static_cast<float>(unbiased);
      set_scale(s, c);
    }
  }

  // Sums of d, the gradient before the activation, which takes the place of dz, and of d * (x - mean); then
  // gamma's and beta's gradients and dx = a*d + b*x + e.
  void norm_gradients(const StepContext& s, const PointwiseArgs& args) {
    const size_t channels = x_->shape.c, rows = x_->rows(s.n), width = 2 * channels;
    std::fill(part_.begin(), part_.end(), 0.0);
    parallel_for(threads_, rows, kRows, [&](size_t begin, size_t end, int thread) {
      float* block = block_.data() + thread * width;
      for (size_t row = begin; row < end; row += kRows) {
        std::fill_n(block, width, 0.0f);
        kernels_.pointwise_sums(args, std::min(kRows, end - row), x_->row(row), r_ ? r_->row(row) : nullptr,
                                z_->gradient->row(row), mean_.data(), block, block + channels,
                                spec_.act == Act::None ? nullptr : z_->gradient->row(row));
        for (size_t i = 0; i < width; ++i) part_[thread * width + i] += block[i];
      }
    });
    for (size_t c = 0; c < channels; ++c) {
      double sum = 0, sum_x = 0;
      for (int t = 0; t < threads_; ++t)
        sum += part_[t * width + c], sum_x += part_[t * width + channels + c];
      const double normal = sum_x * inverse_[c];
      if (norm_.gamma >= 0) s.gradients[norm_.gamma + c] = static_cast<float>(normal);
      if (norm_.beta >= 0) s.gradients[norm_.beta + c] = static_cast<float>(sum);
      a_[c] = scale_[c];
      const double to_x = -scale_[c] * inverse_[c] * normal / rows;
      b_[c] = static_cast<float>(to_x);
      e_[c] = static_cast<float>(-to_x * mean_[c] - scale_[c] * sum / rows);
    }
  }

  ChannelSums channel_sums_;
  bool fused_sums_ = false;
  std::vector<float> a_, b_, e_, block_;
  std::vector<double> sums_, part_;
};

}  // namespace

std::unique_ptr<Op> make_batch_norm_op(const BatchNormSpec& spec, Tensor* x, Tensor* residual, Tensor* z,
                                       ConvOp* producer, const OpSettings& settings) {
  if (spec.frozen) return std::make_unique<BatchNormOp>(spec, x, residual, z, settings);
  return std::make_unique<TrainingBatchNormOp>(spec, x, residual, z, producer, settings);
}

}  // namespace radl::engine
