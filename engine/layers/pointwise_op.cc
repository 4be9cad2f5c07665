#include "engine/layers/pointwise_op.h"

#include "engine/kernels/parallel.h"

namespace radl::engine {

PointwiseOp::PointwiseOp(const PointwiseSpec& spec, Tensor* x, Tensor* residual, Tensor* z,
                         const OpSettings& settings)
    : spec_(spec), x_(x), r_(residual), z_(z), threads_(settings.threads), kernels_(elementwise(x->type)) {
  z_->wants_gradient = x->wants_gradient || (residual && residual->wants_gradient);
}

void PointwiseOp::plan_forward(Planner& p) {
  p.use(x_), p.use(z_);
  if (r_) p.use(r_);
}

void PointwiseOp::plan_backward(Planner& p) {
  if (!z_->wants_gradient) return;
  p.use(z_->gradient), p.use(x_);
  if (r_) p.use(r_), to_r_ = p.gradient(r_);
  to_x_ = p.gradient(x_, z_->gradient);
}

void PointwiseOp::forward_rows(const StepContext& s) {
  const PointwiseArgs args = arguments();
  parallel_for(threads_, x_->rows(s.n), 64, [&](size_t begin, size_t end, int) {
    kernels_.pointwise(args, end - begin, x_->row(begin), r_ ? r_->row(begin) : nullptr, z_->row(begin));
  });
}

void PointwiseOp::backward_rows(const StepContext& s, const PointwiseArgs& args, PointwiseGradient g,
                                const Tensor* residual) {
  if (!to_x_.tensor && !to_r_.tensor) return;
  g.add_dx = to_x_.add, g.add_dr = to_r_.add;
  parallel_for(threads_, x_->rows(s.n), 64, [&](size_t begin, size_t end, int) {
    PointwiseGradient part = g;
    part.dx = to_x_.tensor ? to_x_.tensor->row(begin) : nullptr;
    part.dr = to_r_.tensor && !r_has_d_ ? to_r_.tensor->row(begin) : nullptr;
    kernels_.pointwise_backward(args, part, end - begin, x_->row(begin),
                                residual ? residual->row(begin) : nullptr, z_->gradient->row(begin));
  });
}

std::unique_ptr<Op> make_pointwise_op(const PointwiseSpec& spec, Tensor* x, Tensor* residual, Tensor* z,
                                      const OpSettings& settings) {
  return std::make_unique<PointwiseOp>(spec, x, residual, z, settings);
}

}  // namespace radl::engine
