// One memory plan per model: every tensor gets a place in one arena, and tensors whose lives do not overlap
// share it.
#pragma once

#include <deque>

#include "engine/layers/op.h"

namespace radl::engine {

// Time runs over the forward operations 0 .. F-1 to the loss at F and, in training, back over F+1 .. 2F; a
// tensor lives from its first use to its last.
class MemoryPlan : public Planner {
 public:
  explicit MemoryPlan(int batch) : batch_(batch) {}
  void set_time(int time) { time_ = time; }

  Tensor* make(Shape shape, Type type) override;
  void use(Tensor* tensor) override;
  GradientUse gradient(Tensor* of, Tensor* over = nullptr) override;
  // Bytes of the tensors that the operation at `time` uses, each once, for the largest batch.
  double touched(int time) const {
    return static_cast<size_t>(time) < touched_.size() ? touched_[static_cast<size_t>(time)] : 0;
  }
  // Keeps a tensor from `time_` on until the end, whatever uses it (the logits).
  void keep(Tensor* tensor);

  // Places all tensors; returns the arena's size in bytes.
  size_t place();
  void bind(std::byte* arena);

 private:
  int batch_, time_ = 0;
  std::deque<Tensor> tensors_;
  std::vector<double> touched_;  // by time
};

}  // namespace radl::engine
