#include "engine/export/pytorch_order.h"

#include <algorithm>

namespace radl::engine::exporter {
namespace {

using Order = std::vector<int>;  // of a layer's channels; empty: as PyTorch has them

// PyTorch's flattened position (c, h, w) of our (h, w, c).
Order flattened(const Shape& s) {
  if (s.c == 1 || (s.h == 1 && s.w == 1)) return {};
  Order from;
  from.reserve(s.size());
  for (int c = 0; c < s.c; ++c) {
    for (int p = 0; p < s.h * s.w; ++p) from.push_back(p * s.c + c);
  }
  return from;
}

class Walk {
 public:
  explicit Walk(const Graph& graph) : graph_(graph), orders_(graph.layers.size()) {}

  std::vector<Reorder> run() {
    for (size_t k = 1; k < graph_.layers.size(); ++k) orders_[k] = layer(graph_.layers[k]);
    return std::move(out_);
  }

 private:
  const Order& in(const Layer& l, size_t k = 0) const { return orders_[size_t(l.inputs[k])]; }

  void reorder(int index, bool statistic, size_t rows, size_t inner, const Order& order) {
    if (index >= 0 && !order.empty()) out_.push_back({statistic, index, rows, inner, order});
  }

  Order layer(const Layer& l) {
    const Shape& shape = graph_.layers[size_t(l.inputs[0])].out;
    switch (l.kind) {
      case Kind::Flatten:
        return in(l).empty() ? flattened(shape) : in(l);
      case Kind::Linear:
        reorder(l.weight, false, size_t(l.filters), 1,
                in(l).empty() && !l.per_token ? flattened(shape) : in(l));
        return {};
      case Kind::Conv:
        if (l.groups == 1)
          reorder(l.weight, false, size_t(l.filters), size_t(l.kernel_h) * size_t(l.kernel_w), in(l));
        return {};
      case Kind::BatchNorm:
      case Kind::LayerNorm:
        for (int p : {l.weight, l.bias_param}) reorder(p, false, 1, 1, in(l));
        for (int s : {l.running_mean, l.running_var}) reorder(s, true, 1, 1, in(l));
        return in(l);
      case Kind::Position:
        reorder(l.weight, false, size_t(shape.h) * size_t(shape.w), 1, in(l));
        return in(l);
      case Kind::Attention:
        reorder(l.weight, false, 3 * size_t(shape.c), 1, in(l));
        return {};
      case Kind::Activation:
      case Kind::Dropout:
      case Kind::Scale:
      case Kind::MaxPool:
      case Kind::AvgPool:
      case Kind::GlobalAvgPool:
      case Kind::GlobalMaxPool:  // each channel by itself
        return in(l);
      case Kind::Add:
        return std::all_of(l.inputs.begin(), l.inputs.end(),
                           [&](int i) { return orders_[size_t(i)] == in(l); })
                   ? in(l)
                   : Order();
      case Kind::Concat:
        return concat(l);
      default:
        return {};
    }
  }

  Order concat(const Layer& l) const {
    Order all;
    bool differs = false;
    for (int i : l.inputs) {
      const Order& order = orders_[size_t(i)];
      const int base = int(all.size()), count = graph_.layers[size_t(i)].out.c;
      for (int c = 0; c < count; ++c) all.push_back(base + (order.empty() ? c : order[size_t(c)]));
      differs = differs || !order.empty();
    }
    return differs ? all : Order();
  }

  const Graph& graph_;
  std::vector<Order> orders_;
  std::vector<Reorder> out_;
};

}  // namespace

std::vector<Reorder> pytorch_order(const Graph& graph) { return Walk(graph).run(); }

}  // namespace radl::engine::exporter
