// SGD with momentum, as PyTorch defines it: v = momentum * v + g; w -= lr * v, or lr * (g + momentum * v)
// (Nesterov).
#include "engine/optim/base.h"

namespace radl::engine {

namespace {

struct Factors {
  float gradient, decay, momentum, rate;
};

template <bool kNesterov>
void update(float* __restrict w, const float* __restrict g, float* __restrict v, size_t n, Factors f) {
  for (size_t i = 0; i < n; ++i) {
    const float d = g[i] * f.gradient + f.decay * w[i];
    const float m = f.momentum * v[i] + d;
    v[i] = m;
    w[i] -= f.rate * (kNesterov ? d + f.momentum * m : m);
  }
}

class Sgd : public OptimizerBase {
 public:
  using OptimizerBase::OptimizerBase;
  void step(std::span<float> w, std::span<const float> g, float rate, float scale) override {
    const float factor = gradient_factor(g, scale);
    const float momentum = static_cast<float>(config_.momentum);
    ++steps_;
    for_pieces([&](size_t begin, size_t end, const Run& run) {
      const Factors f{factor, run.decay, momentum, rate * run.rate};
      const auto apply = config_.nesterov ? update<true> : update<false>;
      apply(w.data() + begin, g.data() + begin, state_.data() + begin, end - begin, f);
    });
  }
};

}  // namespace

std::unique_ptr<Optimizer> make_sgd(const OptimizerPlan& plan) { return std::make_unique<Sgd>(plan, 1); }

}  // namespace radl::engine
