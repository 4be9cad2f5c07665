#include "engine/model/memory_plan.h"

#include <algorithm>
#include <limits>

namespace radl::engine {

namespace {

constexpr size_t kAlignment = 256;  // and room for a kernel's loads just beyond the end

bool overlap(const Tensor& a, const Tensor& b) { return a.first <= b.last && b.first <= a.last; }

}  // namespace

Tensor* MemoryPlan::make(Shape shape, Type type) {
  tensors_.push_back({.shape = shape, .type = type});
  Tensor& t = tensors_.back();
  t.bytes = (t.elements(batch_) * size_of(type) + 2 * kAlignment - 1) / kAlignment * kAlignment;
  return &t;
}

void MemoryPlan::use(Tensor* t) {
  if (t->last != time_) {
    if (touched_.size() <= static_cast<size_t>(time_)) touched_.resize(static_cast<size_t>(time_) + 1);
    touched_[static_cast<size_t>(time_)] += static_cast<double>(t->elements(batch_) * size_of(t->type));
  }
  if (t->first < 0) t->first = time_;
  t->last = std::max(t->last, time_);
}

void MemoryPlan::keep(Tensor* t) {
  use(t);
  t->last = std::numeric_limits<int>::max();
}

GradientUse MemoryPlan::gradient(Tensor* of, Tensor* over) {
  if (!of->wants_gradient) return {};
  const bool add = of->gradient_written;
  if (!of->gradient)
    of->gradient =
        over && over->shape == of->shape && over->type == of->type ? over : make(of->shape, of->type);
  of->gradient_written = true;
  use(of->gradient);
  return {of->gradient, add};
}

size_t MemoryPlan::place() {
  std::vector<Tensor*> order;
  for (Tensor& t : tensors_)
    if (t.first >= 0) order.push_back(&t);
  std::stable_sort(order.begin(), order.end(),
                   [](const Tensor* a, const Tensor* b) { return a->bytes > b->bytes; });
  std::vector<Tensor*> placed;  // by offset
  size_t total = 0;
  for (Tensor* t : order) {
    size_t at = 0;
    for (const Tensor* other : placed) {
      if (!overlap(*t, *other)) continue;
      if (at + t->bytes <= other->offset) break;
      at = std::max(at, other->offset + other->bytes);
    }
    t->offset = at;
    total = std::max(total, at + t->bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), t,
                                   [](const Tensor* a, const Tensor* b) { return a->offset < b->offset; }),
                  t);
  }
  return total;
}

void MemoryPlan::bind(std::byte* arena) {
  for (Tensor& t : tensors_) t.data = t.first >= 0 ? arena + t.offset : nullptr;
}

}  // namespace radl::engine
