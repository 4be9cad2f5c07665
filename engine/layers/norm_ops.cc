// Layer normalisation (each position) and group normalisation (each image's groups of channels).
#include <algorithm>
#include <cmath>

#include "engine/kernels/parallel.h"
#include "engine/layers/ops.h"

namespace radl::engine {

namespace {

class NormOp : public Op {
 public:
  NormOp(const NormSpec& spec, Tensor* in, Tensor* out, const OpSettings& s, size_t saved_per_example)
      : spec_(spec), in_(in), out_(out), threads_(s.threads), kernels_(elementwise(in->type)) {
    out_->wants_gradient = in->wants_gradient || (!spec.frozen && (spec.gamma >= 0 || spec.beta >= 0));
    saved_.resize(s.batch * saved_per_example);
    partial_.resize(static_cast<size_t>(s.threads) * 2 * in->shape.c);
  }
  void plan_forward(Planner& p) override { p.use(in_), p.use(out_); }
  void plan_backward(Planner& p) override {
    if (!out_->wants_gradient) return;
    p.use(out_->gradient), p.use(in_);
    to_in_ = p.gradient(in_);
    if (!to_in_.tensor) unwanted_ = Buffer(in_->bytes);
  }

 protected:
  const float* gamma(const StepContext& s) const {
    return spec_.gamma < 0 ? nullptr : s.parameters + spec_.gamma;
  }
  const float* beta(const StepContext& s) const {
    return spec_.beta < 0 ? nullptr : s.parameters + spec_.beta;
  }
  std::byte* dx_row(size_t row) {
    return to_in_.tensor ? to_in_.tensor->row(row)
                         : unwanted_.data() + row * in_->shape.c * size_of(in_->type);
  }
  // Adds the threads' partial sums [gamma's, beta's gradients] up into the flat gradients.
  void finish(const StepContext& s) {
    const size_t c = in_->shape.c;
    for (size_t i = 0; i < c; ++i) {
      double to_gamma = 0, to_beta = 0;
      for (int t = 0; t < threads_; ++t)
        to_gamma += partial_[t * 2 * c + i], to_beta += partial_[t * 2 * c + c + i];
      if (spec_.frozen) continue;
      if (spec_.gamma >= 0) s.gradients[spec_.gamma + i] = static_cast<float>(to_gamma);
      if (spec_.beta >= 0) s.gradients[spec_.beta + i] = static_cast<float>(to_beta);
    }
  }

  NormSpec spec_;
  Tensor *in_, *out_;
  GradientUse to_in_;
  int threads_;
  const ElementwiseKernels& kernels_;
  std::vector<float> saved_;
  std::vector<double> partial_;
  Buffer unwanted_;  // for an input gradient that is not needed
};

class LayerNormOp : public NormOp {
 public:
  LayerNormOp(const NormSpec& spec, Tensor* in, Tensor* out, const OpSettings& s)
      : NormOp(spec, in, out, s, 2 * in->rows(1)), block_(partial_.size()) {}
  void forward(const StepContext& s) override {
    parallel_for(threads_, in_->rows(s.n), 16, [&](size_t begin, size_t end, int) {
      kernels_.layer_norm(in_->row(begin), end - begin, in_->shape.c, spec_.eps, gamma(s), beta(s),
                          out_->row(begin), &saved_[2 * begin]);
    });
  }
  void backward(const StepContext& s) override {
    if (!out_->wants_gradient) return;
    const size_t c = in_->shape.c;
    std::fill(partial_.begin(), partial_.end(), 0.0);
    parallel_for(threads_, in_->rows(s.n), kRows, [&](size_t begin, size_t end, int thread) {
      float* block = block_.data() + thread * 2 * c;
      for (size_t row = begin; row < end; row += kRows) {
        std::fill_n(block, 2 * c, 0.0f);
        kernels_.layer_norm_backward(in_->row(row), out_->gradient->row(row), std::min(kRows, end - row),
                                     in_->shape.c, gamma(s), &saved_[2 * row], block, block + c, dx_row(row),
                                     to_in_.add);
        for (size_t i = 0; i < 2 * c; ++i) partial_[thread * 2 * c + i] += block[i];
      }
    });
    finish(s);
  }

 private:
  static constexpr size_t kRows = 256;
  std::vector<float> block_;
};

// Per image, the per-channel kernels do the work: a group's mean and deviation become each channel's scale
// and shift.
class GroupNormOp : public NormOp {
 public:
  GroupNormOp(const NormSpec& spec, Tensor* in, Tensor* out, const OpSettings& s)
      : NormOp(spec, in, out, s, 2 * spec.groups), work_(static_cast<size_t>(s.threads) * 8 * in->shape.c) {}

  void forward(const StepContext& s) override {
    parallel_for(threads_, s.n, 1, [&](size_t begin, size_t end, int thread) {
      for (size_t i = begin; i < end; ++i) {
        Work w = work(thread);
        statistics(i, w);
        channel_scale(s, i, w);
        kernels_.pointwise(arguments(w), in_->rows(1), in_->image(i), nullptr, out_->image(i));
      }
    });
  }
  void backward(const StepContext& s) override {
    if (!out_->wants_gradient) return;
    std::fill(partial_.begin(), partial_.end(), 0.0);
    parallel_for(threads_, s.n, 1, [&](size_t begin, size_t end, int thread) {
      for (size_t i = begin; i < end; ++i) image_backward(s, i, thread);
    });
    finish(s);
  }

 private:
  struct Work {
    float *sum, *square, *scale, *shift, *mean, *a, *b, *e;
  };
  Work work(int thread) {
    const size_t c = in_->shape.c;
    float* w = work_.data() + thread * 8 * c;
    return {w, w + c, w + 2 * c, w + 3 * c, w + 4 * c, w + 5 * c, w + 6 * c, w + 7 * c};
  }
  size_t each() const { return in_->shape.c / spec_.groups; }
  PointwiseArgs arguments(const Work& w) const { return {Act::None, 0, in_->shape.c, w.scale, w.shift}; }

  void statistics(size_t image, Work& w) {
    std::fill_n(w.sum, 2 * in_->shape.c, 0.0f);
    kernels_.channel_sums(in_->image(image), in_->rows(1), in_->shape.c, w.sum, w.square);
    const double count = static_cast<double>(in_->rows(1)) * each();
    for (int g = 0; g < spec_.groups; ++g) {
      double sum = 0, square = 0;
      for (size_t c = g * each(); c < (g + 1) * each(); ++c) sum += w.sum[c], square += w.square[c];
      const double mean = sum / count, variance = variance_of(mean, square / count);
      float* saved = &saved_[(image * spec_.groups + g) * 2];
      saved[0] = static_cast<float>(mean), saved[1] = static_cast<float>(1 / std::sqrt(variance + spec_.eps));
    }
  }
  void channel_scale(const StepContext& s, size_t image, Work& w) {
    for (int c = 0; c < in_->shape.c; ++c) {
      const float* saved = &saved_[(image * spec_.groups + c / each()) * 2];
      w.mean[c] = saved[0];
      w.scale[c] = (spec_.gamma < 0 ? 1.0f : s.parameters[spec_.gamma + c]) * saved[1];
      w.shift[c] = (spec_.beta < 0 ? 0.0f : s.parameters[spec_.beta + c]) - saved[0] * w.scale[c];
    }
  }
  void image_backward(const StepContext& s, size_t image, int thread) {
    Work w = work(thread);
    const size_t channels = in_->shape.c;
    channel_scale(s, image, w);
    std::fill_n(w.sum, 2 * channels, 0.0f);
    kernels_.pointwise_sums(arguments(w), in_->rows(1), in_->image(image), nullptr,
                            out_->gradient->image(image), w.mean, w.sum, w.square, nullptr);
    const double count = static_cast<double>(in_->rows(1)) * each();
    double* partial = partial_.data() + thread * 2 * channels;
    for (int g = 0; g < spec_.groups; ++g) {
      const double inverse = saved_[(image * spec_.groups + g) * 2 + 1];
      double sum = 0, sum_x = 0;
      for (size_t c = g * each(); c < (g + 1) * each(); ++c) {
        const double gain = spec_.gamma < 0 ? 1.0 : s.parameters[spec_.gamma + c];
        sum += gain * w.sum[c], sum_x += gain * w.square[c] * inverse;
        partial[c] += w.square[c] * inverse, partial[channels + c] += w.sum[c];
      }
      for (size_t c = g * each(); c < (g + 1) * each(); ++c) {
        w.a[c] = w.scale[c];
        const double to_x = -inverse * inverse * sum_x / count;
        w.b[c] = static_cast<float>(to_x);
        w.e[c] = static_cast<float>(-to_x * w.mean[c] - inverse * sum / count);
      }
    }
    if (!to_in_.tensor) return;
    PointwiseGradient gradient{w.a, w.b, w.e, to_in_.tensor->image(image), to_in_.add};
    kernels_.pointwise_backward(arguments(w), gradient, in_->rows(1), in_->image(image), nullptr,
                                out_->gradient->image(image));
  }

  std::vector<float> work_;
};

}  // namespace

std::unique_ptr<Op> make_layer_norm_op(const NormSpec& spec, Tensor* in, Tensor* out, const OpSettings& s) {
  return std::make_unique<LayerNormOp>(spec, in, out, s);
}
std::unique_ptr<Op> make_group_norm_op(const NormSpec& spec, Tensor* in, Tensor* out, const OpSettings& s) {
  return std::make_unique<GroupNormOp>(spec, in, out, s);
}

}  // namespace radl::engine
