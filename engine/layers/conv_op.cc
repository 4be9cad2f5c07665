// Convolution and linear layers.
#include <fmt/format.h>

#include <optional>
#include <vector>

#include "engine/kernels/bias.h"
#include "engine/kernels/conv.h"
#include "engine/layers/input_gradient.h"
#include "engine/layers/ops.h"

namespace radl::engine {

namespace {

class ConvOpImpl : public ConvOp {
 public:
  ConvOpImpl(const ConvSpec& spec, Tensor* in, Tensor* out, ChosenConv conv, const OpSettings& s)
      : spec_(spec), in_(in), out_(out), conv_(std::move(conv)), training_(s.training), threads_(s.threads) {
    const bool bias_alone = spec.frozen && spec.bias_trains;
    out_->wants_gradient = in_->wants_gradient || !spec.frozen || bias_alone;
    if (!bias_alone || !s.training) return;
    bias_sums_.emplace(out->type, spec.geometry.oc, s.threads);
    bias_gradient_.resize(2 * static_cast<size_t>(spec.geometry.oc));
  }

  bool collect_sums(double* sums) override {
    if (sums_ || !conv_.kernel->fuses_sums()) return false;  // one reader only
    sums_ = sums;
    return true;
  }
  void plan_forward(Planner& p) override { p.use(in_), p.use(out_); }
  void plan_backward(Planner& p) override {
    if (!out_->wants_gradient) return;
    p.use(out_->gradient);
    if (!spec_.frozen) p.use(in_);
    to_in_.plan(p, in_, *conv_.kernel);
  }
  void refresh(const StepContext& s) override {
    conv_.kernel->set_weights(s.parameters + spec_.weight, training_);
  }
  void forward(const StepContext& s) override {
    conv_.kernel->forward(rows(s), in_->data, spec_.bias < 0 ? nullptr : s.parameters + spec_.bias,
                          out_->data, s.training ? sums_ : nullptr);
  }
  void backward(const StepContext& s) override {
    if (!out_->wants_gradient) return;
    const std::byte* dy = out_->gradient->data;
    if (!spec_.frozen)
      conv_.kernel->backward_weights(rows(s), in_->data, dy, s.gradients + spec_.weight,
                                     spec_.bias < 0 ? nullptr : s.gradients + spec_.bias);
    else if (bias_sums_)
      add_up_bias(s, dy);
    if (to_in_.wanted()) to_in_.run(*conv_.kernel, s.n, rows(s), dy, threads_);
  }
  size_t memory_bytes() const override { return conv_.kernel->memory_bytes(); }
  std::string kernel() const override { return fmt::format("{}: {}", conv_.kernel->name(), conv_.why); }
  double flop() const override { return spec_.geometry.flop(spec_.rows_per_example); }
  double backward_flop() const override {
    return flop() * ((out_->wants_gradient && !spec_.frozen) + to_in_.wanted());
  }

 private:
  // Of a layer whose weights are frozen.
  void add_up_bias(const StepContext& s, const std::byte* dy) {
    const ConvGeometry& g = spec_.geometry;
    const int part = spec_.pool ? 2 : 1;
    bias_sums_->run(dy, static_cast<size_t>(rows(s)) * (g.oh / part) * (g.ow / part), bias_gradient_.data());
    for (int c = 0; c < g.oc; ++c) s.gradients[spec_.bias + c] = static_cast<float>(bias_gradient_[c]);
  }
  int rows(const StepContext& s) const { return s.n * spec_.rows_per_example; }
  ConvSpec spec_;
  Tensor *in_, *out_;
  InputGradient to_in_;
  ChosenConv conv_;
  bool training_;
  int threads_;
  double* sums_ = nullptr;
  std::optional<ChannelSums> bias_sums_;
  std::vector<double> bias_gradient_;  // sums, then sums of squares
};

ConvRequest request_of(const ConvSpec& spec, const Tensor& in, const OpSettings& s) {
  return {spec.geometry, in.type,  s.threads, s.training && in.wants_gradient, s.training && !spec.frozen,
          s.workspace,   spec.pool};
}

}  // namespace

bool conv_op_pools(const ConvSpec& spec, const Tensor& in, const OpSettings& s) {
  return conv_pools(request_of(spec, in, s), s.kernels);
}

Result<std::unique_ptr<ConvOp>> make_conv_op(const ConvSpec& spec, Tensor* in, Tensor* out,
                                             const OpSettings& s) {
  Result<ChosenConv> conv = make_conv(request_of(spec, *in, s), s.kernels);
  if (!conv) return conv.status();
  return std::unique_ptr<ConvOp>(std::make_unique<ConvOpImpl>(spec, in, out, std::move(*conv), s));
}

}  // namespace radl::engine
