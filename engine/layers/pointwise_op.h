// z = act(x * scale + shift + residual), each part optional: base of addition, activation and batch
// normalization.
#pragma once

#include "engine/layers/ops.h"

namespace radl::engine {

class PointwiseOp : public Op {
 public:
  PointwiseOp(const PointwiseSpec& spec, Tensor* x, Tensor* residual, Tensor* z, const OpSettings& settings);
  void plan_forward(Planner& p) override;
  void plan_backward(Planner& p) override;
  void forward(const StepContext& s) override { forward_rows(s); }
  void backward(const StepContext& s) override { backward_rows(s, arguments(), {}, r_); }

 protected:
  // Per channel; null means 1 and 0.
  virtual const float* scale() const { return nullptr; }
  virtual const float* shift() const { return nullptr; }
  PointwiseArgs arguments() const { return {spec_.act, spec_.slope, x_->shape.c, scale(), shift()}; }
  void forward_rows(const StepContext& s);
  // Writes the gradients of x and of the residual; `per_channel` has a, b and e. `residual` is the
  // activation's other input (null if already applied).
  void backward_rows(const StepContext& s, const PointwiseArgs& args, PointwiseGradient per_channel,
                     const Tensor* residual);

  PointwiseSpec spec_;
  Tensor *x_, *r_, *z_;
  GradientUse to_x_, to_r_;
  bool r_has_d_ = false;  // the gradients of r and z share their memory
  int threads_;
  const ElementwiseKernels& kernels_;
};

}  // namespace radl::engine
