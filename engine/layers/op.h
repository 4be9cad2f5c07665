// An operation of the planned network: one or several fused layers, forward and backward over tensors in
// preplanned memory. Calls allocate nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/kernels/elementwise.h"
#include "engine/kernels/workspace.h"
#include "engine/model/graph.h"
#include "engine/tensor/buffer.h"

namespace radl::engine {

// [batch, h, w, c]. The memory plan binds it to a position in the arena.
struct Tensor {
  Shape shape;
  Type type = Type::F32;
  bool wants_gradient = false;
  Tensor* gradient = nullptr;  // set when the backward pass is planned
  bool gradient_written = false;
  size_t bytes = 0;           // for the largest batch
  int first = -1, last = -1;  // the period in which its content is needed (memory_plan.h)
  size_t offset = 0;
  std::byte* data = nullptr;

  size_t elements(int n) const { return n * shape.size(); }
  size_t rows(int n) const { return static_cast<size_t>(n) * shape.h * shape.w; }
  // The first byte of image i.
  std::byte* image(size_t i) const { return data + i * shape.size() * size_of(type); }
  std::byte* row(size_t i) const { return data + i * shape.c * size_of(type); }
};

// The arguments of one call.
struct StepContext {
  int n = 0;
  bool training = false;
  uint64_t seed = 0, step = 0;
  const float* images = nullptr;
  float* parameters = nullptr;
  float* gradients = nullptr;
  float* statistics = nullptr;
};

// A gradient to write: its first writer sets it, the others add to it.
struct GradientUse {
  Tensor* tensor = nullptr;  // null: not needed
  bool add = false;
};

// Hands out tensors and records when each is used; it defines the times.
class Planner {
 public:
  virtual ~Planner() = default;
  virtual Tensor* make(Shape shape, Type type) = 0;
  // The operation being planned reads or writes the content now (forward or backward).
  virtual void use(Tensor* tensor) = 0;
  // For planning backward: the destination of the gradient of `of`. The first writer may reuse the memory of
  // `over`, if given (the operation reads an element there before it writes the same element).
  virtual GradientUse gradient(Tensor* of, Tensor* over = nullptr) = 0;
};

struct OpSettings {
  int batch = 0;
  int threads = 1;
  bool training = true;
  std::string kernels;
  std::shared_ptr<Workspace> workspace;
};

class Op {
 public:
  virtual ~Op() = default;
  // Called once in forward order; then plan_backward in reverse order (training only).
  virtual void plan_forward(Planner& planner) = 0;
  virtual void plan_backward(Planner& planner) = 0;
  virtual void forward(const StepContext& s) = 0;
  virtual void backward(const StepContext& s) = 0;
  // The master weights changed: refreshes packed copies.
  virtual void refresh(const StepContext&) {}
  virtual size_t memory_bytes() const { return 0; }
  // The chosen kernel and the reason; empty for element-wise operations.
  virtual std::string kernel() const { return ""; }
  // Of the forward and backward pass, per example, counted as for a plain convolution or matrix product.
  virtual double flop() const { return 0; }
  virtual double backward_flop() const { return 2 * flop(); }

  std::string name;  // of its layers: "layer1.0.bn1+relu"
  std::vector<size_t>
      parameters;  // numbers in Graph::parameters; only this backward() writes their gradients
};

}  // namespace radl::engine
