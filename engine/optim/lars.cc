// LARS (You, Gitman and Ginsburg 2017): momentum SGD whose rate is scaled for every parameter tensor by
// trust * |w| / (|g| + decay * |w|); tensors without decay (bias, normalisation) take the plain rate.
#include <cmath>

#include "engine/optim/base.h"

namespace radl::engine {

namespace {

class Lars : public OptimizerBase {
 public:
  using OptimizerBase::OptimizerBase;
  void step(std::span<float> w, std::span<const float> g, float rate, float scale) override {
    const float factor = gradient_factor(g, scale);
    const float momentum = static_cast<float>(config_.momentum), trust = static_cast<float>(config_.trust);
    ++steps_;
    for (const Run& run : runs_) {
      const size_t n = run.end - run.begin;
      float local = rate * run.rate;
      if (run.decays) {
        const double weight = norm2(w.subspan(run.begin, n)),
                     gradient = norm2(g.subspan(run.begin, n)) * factor;
        if (weight > 0 && gradient > 0)
          local = static_cast<float>(local * trust * weight / (gradient + run.decay * weight));
      }
      const float decay = run.decay;
      float *weights = w.data() + run.begin, *velocity = state_.data() + run.begin;
      const float* gradients = g.data() + run.begin;
      for (size_t i = 0; i < n; ++i) {
        velocity[i] = momentum * velocity[i] + local * (gradients[i] * factor + decay * weights[i]);
        weights[i] -= velocity[i];
      }
    }
  }
};

}  // namespace

std::unique_ptr<Optimizer> make_lars(const OptimizerPlan& plan) { return std::make_unique<Lars>(plan, 1); }

}  // namespace radl::engine
