// What the optimizers share: the range that they own cut into runs that are treated alike, and threads.
#pragma once

#include <algorithm>

#include "engine/kernels/parallel.h"
#include "engine/optim/optimizer.h"

namespace radl::engine {

// Consecutive elements of the span with the same treatment.
struct Run {
  size_t begin = 0, end = 0;
  bool decays = false;
  float decay = 0;  // weight decay
  float rate = 1;   // factor on the learning rate
  int rows = 0;     // above 0: a matrix of so many rows, a run of its own (muon only)
};

class OptimizerBase : public Optimizer {
 public:
  OptimizerBase(OptimizerConfig config, std::vector<Run> runs, size_t size, size_t state_size)
      : config_(std::move(config)), runs_(std::move(runs)), size_(size), state_(state_size) {}
  size_t size() const override { return size_; }
  std::span<float> state() override { return state_; }
  uint64_t steps() const override { return steps_; }
  void set_steps(uint64_t steps) override { steps_ = steps; }

 protected:
  // The factor on the gradient: the caller's, less when the norm is clipped.
  float gradient_factor(std::span<const float> gradients, float scale) const {
    if (config_.clip_norm <= 0) return scale;
    const double norm = norm2(gradients) * scale;
    return norm > config_.clip_norm ? static_cast<float>(scale * (config_.clip_norm / norm)) : scale;
  }
  // Calls f(begin, end, run) over disjoint pieces, in parallel: elements do not depend on each other.
  template <class F>
  void for_pieces(F&& f) const {
    const int threads = size_ < 65536 ? 1 : std::max(1, config_.threads);
    parallel_for(threads, size_, 1024, [&](size_t from, size_t to, int) {
      for (const Run& run : runs_) {
        const size_t begin = std::max(run.begin, from), end = std::min(run.end, to);
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

std::unique_ptr<Optimizer> make_sgd(const OptimizerConfig&, std::vector<Run> runs, size_t size);
std::unique_ptr<Optimizer> make_adamw(const OptimizerConfig&, std::vector<Run> runs, size_t size);
std::unique_ptr<Optimizer> make_lars(const OptimizerConfig&, std::vector<Run> parameters, size_t size);
std::unique_ptr<Optimizer> make_muon(const OptimizerConfig&, std::vector<Run> runs, size_t size);

}  // namespace radl::engine
