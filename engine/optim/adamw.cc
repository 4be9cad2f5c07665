// AdamW (Loshchilov and Hutter 2019): Adam's step from bias-corrected moments, weight decay apart from the
// gradient.
#include <cmath>

#include "engine/optim/base.h"

namespace radl::engine {

namespace {

struct Factors {
  float gradient, beta1, beta2, keep, step, correction2, eps;
};

void update(float* __restrict w, const float* __restrict g, float* __restrict m, float* __restrict v,
            size_t n, Factors f) {
  for (size_t i = 0; i < n; ++i) {
    const float d = g[i] * f.gradient;
    m[i] = f.beta1 * m[i] + (1 - f.beta1) * d;
    v[i] = f.beta2 * v[i] + (1 - f.beta2) * d * d;
    w[i] = w[i] * f.keep - f.step * m[i] / (std::sqrt(v[i]) * f.correction2 + f.eps);
  }
}

class AdamW : public OptimizerBase {
 public:
  using OptimizerBase::OptimizerBase;
  void step(std::span<float> w, std::span<const float> g, float rate, float scale) override {
    const float factor = gradient_factor(g, scale);
    const float beta1 = static_cast<float>(config_.beta1), beta2 = static_cast<float>(config_.beta2),
                epsilon = static_cast<float>(config_.epsilon);
    ++steps_;
    const double t = static_cast<double>(steps_);
    const double correction1 = 1 - std::pow(static_cast<double>(beta1), t);
    const float correction2 = static_cast<float>(1 / std::sqrt(1 - std::pow(static_cast<double>(beta2), t)));
    for_pieces([&](size_t begin, size_t end, const Run& run) {
      const float own = rate * run.rate;
      const Factors f{factor,      beta1,  beta2, 1 - own * run.decay, static_cast<float>(own / correction1),
                      correction2, epsilon};
      update(w.data() + begin, g.data() + begin, state_.data() + begin, state_.data() + size_ + begin,
             end - begin, f);
    });
  }
};

}  // namespace

std::unique_ptr<Optimizer> make_adamw(const OptimizerPlan& plan) { return std::make_unique<AdamW>(plan, 2); }

}  // namespace radl::engine
