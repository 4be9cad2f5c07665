// A graph executed layer by layer in plain loops: the reference for the planned network, in float or double
// (numerical gradient checks need double). Slow and simple; `--kernels ref` runs it.
#pragma once

#include <vector>

#include "engine/model/graph.h"

namespace radl::engine {

template <class T>
class ReferenceNetwork {
 public:
  ReferenceNetwork(const Graph& graph, uint64_t seed, float label_smoothing)
      : graph_(graph), seed_(seed), smoothing_(label_smoothing) {}

  // Mean loss and hits. With `training`, uses batch statistics and dropout and updates running statistics.
  // `statistics` and `parameters` are the flat buffers of the graph's layout.
  StepResult forward(std::span<const T> images, std::span<const int32_t> labels, int n, bool training,
                     uint64_t step, std::span<const T> parameters, std::span<T> statistics);
  // After forward() with training: gradients += d mean loss / d parameters.
  void backward(std::span<const int32_t> labels, std::span<T> gradients);

  // Rounds the layers' outputs (except the last) and the outputs' gradients to bf16 from now on, as a network
  // of that precision stores them: shows the effect of rounding alone.
  void round_to_bf16() { rounds_ = true; }

  const std::vector<T>& logits() const { return values_.back(); }
  // After backward(): d mean loss / d input.
  const std::vector<T>& input_gradient() const { return gradients_[0]; }
  const std::vector<T>& value(int layer) const { return values_[layer]; }
  size_t memory_bytes() const;

 private:
  void forward_layer(int index, bool training, std::span<T> statistics);
  void backward_layer(int index, std::span<T> gradients);
  void normalise(const Layer& layer, const std::vector<T>& x, std::vector<T>& y, bool training,
                 std::span<T> stats);
  void normalise_backward(int index, std::span<T> gradients);
  void pool(int index);
  void pool_backward(int index);
  void attention(int index);
  void attention_backward(int index, std::span<T> gradients);
  void round(std::vector<T>& values) const;
  bool drops(int index, size_t element) const;
  const T* p(int parameter) const {
    return parameter < 0 ? nullptr : parameters_.data() + graph_.parameters[parameter].offset;
  }
  T* grad(std::span<T> gradients, int parameter) const {
    return parameter < 0 ? nullptr : gradients.data() + graph_.parameters[parameter].offset;
  }

  const Graph& graph_;
  uint64_t seed_, step_ = 0;
  float smoothing_;
  bool rounds_ = false;
  int n_ = 0;
  std::span<const T> parameters_;
  std::vector<std::vector<T>> values_, gradients_;  // one per layer: outputs and their gradients
  std::vector<std::vector<T>> saved_;  // per layer: mean and 1/deviation; attention's inner values
};

extern template class ReferenceNetwork<float>;
extern template class ReferenceNetwork<double>;

}  // namespace radl::engine
