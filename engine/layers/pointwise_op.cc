// Batch normalisation, residual addition and activation in one pass (two backward: sums, then gradients).
#include <algorithm>
#include <cmath>

#include "engine/kernels/bias.h"
#include "engine/layers/ops.h"

namespace radl::engine {

namespace {

constexpr size_t kRows = 512;  // per fp32 partial sum

class PointwiseOp : public Op {
 public:
  PointwiseOp(const PointwiseSpec& spec, Tensor* x, Tensor* residual, Tensor* z, ConvOp* producer,
              const OpSettings& s)
      : spec_(spec),
        x_(x),
        r_(residual),
        z_(z),
        threads_(s.threads),
        kernels_(elementwise(x->type)),
        channel_sums_(x->type, x->shape.c, s.threads) {
    z_->wants_gradient = x->wants_gradient || (residual && residual->wants_gradient) ||
                         (spec.norm && !spec.frozen && (spec.gamma >= 0 || spec.beta >= 0));
    const size_t c = x->shape.c;
    scale_.assign(c, 1.0f), shift_.assign(c, 0.0f), mean_.assign(c, 0.0f), inverse_.assign(c, 1.0f);
    a_.assign(c, 1.0f), b_.assign(c, 0.0f), e_.assign(c, 0.0f);
    sums_.resize(2 * c);
    part_.resize(s.threads * 2 * c);
    block_.resize(s.threads * 2 * c);
    fused_sums_ = spec.norm && producer && producer->collect_sums(sums_.data());
  }

  void plan_forward(Planner& p) override {
    p.use(x_), p.use(z_);
    if (r_) p.use(r_);
  }
  void plan_backward(Planner& p) override {
    if (!z_->wants_gradient) return;
    p.use(z_->gradient), p.use(x_);
    if (r_) p.use(r_);
    // After norm_gradients() d lies where dz was: it is r's gradient, if that is the first.
    if (r_) to_r_ = p.gradient(r_, spec_.norm ? z_->gradient : nullptr);
    r_has_d_ = to_r_.tensor == z_->gradient;
    to_x_ = p.gradient(x_, r_has_d_ ? nullptr : z_->gradient);
  }

  void forward(const StepContext& s) override {
    if (spec_.norm) s.training ? batch_statistics(s) : running_statistics(s);
    const PointwiseArgs args = arguments();
    parallel_for(threads_, x_->rows(s.n), 64, [&](size_t begin, size_t end, int) {
      kernels_.pointwise(args, end - begin, x_->row(begin), r_ ? r_->row(begin) : nullptr, z_->row(begin));
    });
  }

  void backward(const StepContext& s) override {
    if (!z_->wants_gradient) return;
    PointwiseArgs args = arguments();
    if (spec_.norm) norm_gradients(s, args), args.act = Act::None;
    if (!to_x_.tensor && !to_r_.tensor) return;
    PointwiseGradient g;
    if (spec_.norm) g.a = a_.data(), g.b = b_.data(), g.e = e_.data();
    g.add_dx = to_x_.add, g.add_dr = to_r_.add;
    parallel_for(threads_, x_->rows(s.n), 64, [&](size_t begin, size_t end, int) {
      PointwiseGradient part = g;
      part.dx = to_x_.tensor ? to_x_.tensor->row(begin) : nullptr;
      part.dr = to_r_.tensor && !r_has_d_ ? to_r_.tensor->row(begin) : nullptr;
      kernels_.pointwise_backward(args, part, end - begin, x_->row(begin),
                                  r_ && !spec_.norm ? r_->row(begin) : nullptr, z_->gradient->row(begin));
    });
  }

 private:
  PointwiseArgs arguments() const {
    return {spec_.act, spec_.slope, x_->shape.c, spec_.norm ? scale_.data() : nullptr,
            spec_.norm ? shift_.data() : nullptr};
  }

  void set_scale(const StepContext& s, size_t c) {
    const float gamma = spec_.gamma < 0 ? 1.0f : s.parameters[spec_.gamma + c];
    const float beta = spec_.beta < 0 ? 0.0f : s.parameters[spec_.beta + c];
    scale_[c] = gamma * inverse_[c];
    shift_[c] = beta - mean_[c] * scale_[c];
  }

  // Ioffe and Szegedy 2015; the running variance is the unbiased one, as in PyTorch.
  void batch_statistics(const StepContext& s) {
    const double count = static_cast<double>(x_->rows(s.n));
    if (!fused_sums_) channel_sums_.run(x_->data, x_->rows(s.n), sums_.data());
    const size_t channels = x_->shape.c;
    for (size_t c = 0; c < channels; ++c) {
      const double mean = sums_[c] / count,
                   variance = std::max(0.0, sums_[channels + c] / count - mean * mean);
      mean_[c] = static_cast<float>(mean);
      inverse_[c] = static_cast<float>(1 / std::sqrt(variance + spec_.eps));
      float& running_mean = s.statistics[spec_.running_mean + c];
      float& running_var = s.statistics[spec_.running_var + c];
      const double unbiased = count > 1 ? variance * count / (count - 1) : variance;
      running_mean = (1 - spec_.momentum) * running_mean + spec_.momentum * static_cast<float>(mean);
      running_var = (1 - spec_.momentum) * running_var + spec_.momentum * static_cast<float>(unbiased);
      set_scale(s, c);
    }
  }

  void running_statistics(const StepContext& s) {
    for (int c = 0; c < x_->shape.c; ++c) {
      mean_[c] = s.statistics[spec_.running_mean + c];
      inverse_[c] = 1 / std::sqrt(s.statistics[spec_.running_var + c] + spec_.eps);
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
      if (!spec_.frozen && spec_.gamma >= 0) s.gradients[spec_.gamma + c] = static_cast<float>(normal);
      if (!spec_.frozen && spec_.beta >= 0) s.gradients[spec_.beta + c] = static_cast<float>(sum);
      a_[c] = scale_[c];
      const double to_x = -scale_[c] * inverse_[c] * normal / rows;
      b_[c] = static_cast<float>(to_x);
      e_[c] = static_cast<float>(-to_x * mean_[c] - scale_[c] * sum / rows);
    }
  }

  PointwiseSpec spec_;
  Tensor *x_, *r_, *z_;
  GradientUse to_x_, to_r_;
  bool r_has_d_ = false;  // the gradients of r and z share their memory
  int threads_;
  const ElementwiseKernels& kernels_;
  ChannelSums channel_sums_;
  bool fused_sums_ = false;
  std::vector<float> scale_, shift_, mean_, inverse_, a_, b_, e_, block_;
  std::vector<double> sums_, part_;
};

}  // namespace

std::unique_ptr<Op> make_pointwise_op(const PointwiseSpec& spec, Tensor* x, Tensor* residual, Tensor* z,
                                      ConvOp* producer, const OpSettings& settings) {
  return std::make_unique<PointwiseOp>(spec, x, residual, z, producer, settings);
}

}  // namespace radl::engine
