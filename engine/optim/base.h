// Base of the optimizers: splits their range into runs with equal settings, and into threads.
#pragma once

#include <algorithm>

#include "engine/kernels/parallel.h"
#include "engine/optim/optimizer.h"

namespace radl::engine {

class OptimizerBase : public Optimizer {
 public:
  OptimizerBase(const OptimizerPlan& plan, size_t vectors)
      : config_(plan.config), runs_(plan.runs), size_(plan.size), state_(plan.size * vectors) {}
  size_t size() const override { return size_; }
  std::span<float> state() override { return state_; }
  uint64_t steps() const override { return steps_; }
  void set_steps(uint64_t steps) override { steps_ = steps; }

 protected:
  // The factor for the gradient: the caller's, or less if the norm is clipped.
  float gradient_factor(std::span<const float> gradients, float scale) const {
    return config_.clip > 0 ? clipped(config_.clip, norm2(gradients) * scale, scale) : scale;
  }
  // Calls f(begin, end, run) for disjoint pieces in parallel; elements are independent of each other.
  template <class F>
  void for_pieces(F&& f) const {
    const int threads = size_ < 65536 ? 1 : std::max(1, config_.threads);
    parallel_for(threads, size_, 1024, [&](size_t from, size_t to, int) {
      for (const Run& run : runs_) {
        const size_t begin = std::max<size_t>(run.begin, from), end = std::min<size_t>(run.end, to);
        if (begin < end) f(begin, end, run);
      }
    });
  }

  OptimizerConfig config_;
  std::vector<Run> runs_;
  size_t size_;
  std::vector<float> state_;
  uint64_t steps_ = 0;
};

std::unique_ptr<Optimizer> make_sgd(const OptimizerPlan& plan);
std::unique_ptr<Optimizer> make_adamw(const OptimizerPlan& plan);
std::unique_ptr<Optimizer> make_lars(const OptimizerPlan& plan);
std::unique_ptr<Optimizer> make_muon(const OptimizerPlan& plan);

}  // namespace radl::engine
