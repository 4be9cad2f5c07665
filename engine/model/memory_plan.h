// Memory plan of a model: every tensor gets a position in one arena, and tensors with disjoint lifetimes
// share memory.
#pragma once

#include <deque>

#include "engine/layers/op.h"

namespace radl::engine {

// Time covers the forward operations 0 .. F-1, the loss at F and, in training, the backward operations F+1 ..
// 2F. A tensor lives from its first use to its last.
class MemoryPlan : public Planner {
 public:
  explicit MemoryPlan(int batch) : batch_(batch) {}
  void set_time(int time) { time_ = time; }

  Tensor* make(Shape shape, Type type) override;
  void use(Tensor* tensor) override;
  GradientUse gradient(Tensor* of, Tensor* over = nullptr) override;
  // Bytes of the tensors that the operation at `time` uses, each counted once, for the largest batch.
  double touched(int time) const {
    return static_cast<size_t>(time) < touched_.size() ? touched_[static_cast<size_t>(time)] : 0;
  }
  // Keeps a tensor from `time_` to the end, regardless of its uses (the logits).
  void keep(Tensor* tensor);

  // Assigns positions to all tensors. Returns the arena's size in bytes.
  size_t place();
  void bind(std::byte* arena);

 private:
  int batch_, time_ = 0;
  std::deque<Tensor> tensors_;
  std::vector<double> touched_;  // by time
};

}  // namespace radl::engine
