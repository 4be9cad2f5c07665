#include "engine/model/reference_network.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/random.h"
#include "engine/kernels/ref/activation.h"
#include "engine/kernels/ref/conv.h"
#include "engine/kernels/ref/loss.h"
#include "engine/model/geometry.h"
#include "engine/tensor/buffer.h"

namespace radl::engine {

template <class T>
StepResult ReferenceNetwork<T>::forward(std::span<const T> images, std::span<const int32_t> labels, int n,
                                        bool training, uint64_t step, std::span<const T> parameters,
                                        std::span<T> statistics) {
  n_ = n;
  step_ = step;
  parameters_ = parameters;
  values_.resize(graph_.layers.size());
  saved_.resize(graph_.layers.size());
  values_[0].assign(images.begin(), images.begin() + n * graph_.input.size());
  for (size_t i = 1; i < graph_.layers.size(); ++i) {
    values_[i].assign(n * graph_.layers[i].out.size(), T(0));
    forward_layer(static_cast<int>(i), training, statistics);
    if (i + 1 < graph_.layers.size()) round(values_[i]);
  }
  if (labels.empty()) return {};
  return ref::softmax_cross_entropy<T>(values_.back().data(), labels.data(), n, graph_.classes, smoothing_,
                                       nullptr);
}

template <class T>
void ReferenceNetwork<T>::backward(std::span<const int32_t> labels, std::span<T> gradients) {
  gradients_.resize(graph_.layers.size());
  for (size_t i = 0; i < graph_.layers.size(); ++i) gradients_[i].assign(values_[i].size(), T(0));
  ref::softmax_cross_entropy<T>(values_.back().data(), labels.data(), n_, graph_.classes, smoothing_,
                                gradients_.back().data());
  for (size_t i = graph_.layers.size() - 1; i > 0; --i) {
    if (i + 1 < graph_.layers.size()) round(gradients_[i]);
    backward_layer(static_cast<int>(i), gradients);
  }
}

template <class T>
void ReferenceNetwork<T>::round(std::vector<T>& values) const {
  if (!rounds_) return;
  for (T& v : values) v = to_float(to_bf16(static_cast<float>(v)));
}

template <class T>
size_t ReferenceNetwork<T>::memory_bytes() const {
  size_t total = 0;
  for (const auto* set : {&values_, &gradients_, &saved_})
    for (const auto& values : *set) total += values.capacity() * sizeof(T);
  return total;
}

template <class T>
bool ReferenceNetwork<T>::drops(int index, size_t element) const {
  const uint32_t threshold =
      static_cast<uint32_t>(static_cast<double>(graph_.layers[index].rate) * 4294967296.0);
  return !dropout_keeps(dropout_key(seed_, index, step_), element, threshold);
}

template <class T>
void ReferenceNetwork<T>::forward_layer(int index, bool training, std::span<T> statistics) {
  const Layer& l = graph_.layers[index];
  const std::vector<T>& x = values_[l.inputs[0]];
  std::vector<T>& y = values_[index];
  const size_t size = y.size();
  switch (l.kind) {
    case Kind::Input:
      break;
    case Kind::Conv:
    case Kind::Linear: {
      const ConvGeometry g = conv_geometry(graph_, l, n_);
      ref::conv_forward(g, g.n, x.data(), p(l.weight), p(l.bias_param), y.data());
      break;
    }
    case Kind::BatchNorm:
    case Kind::LayerNorm:
    case Kind::GroupNorm:
      normalise(l, x, y, training, statistics);
      break;
    case Kind::Activation:
      for (size_t i = 0; i < size; ++i) y[i] = ref::activate<T>(l.act, x[i], l.slope);
      break;
    case Kind::MaxPool:
    case Kind::AvgPool:
    case Kind::GlobalAvgPool:
    case Kind::GlobalMaxPool:
      pool(index);
      break;
    case Kind::Dropout:
      for (size_t i = 0; i < size; ++i)
        y[i] = !training ? x[i] : drops(index, i) ? T(0) : x[i] / (1 - static_cast<T>(l.rate));
      break;
    case Kind::Add:
      for (int input : l.inputs)
        for (size_t i = 0; i < size; ++i) y[i] += values_[input][i];
      break;
    case Kind::Concat: {
      size_t first = 0;
      for (int input : l.inputs) {
        const size_t c = graph_.layers[input].out.c;
        for (size_t i = 0; i < values_[input].size(); ++i)
          y[i / c * l.out.c + first + i % c] = values_[input][i];
        first += c;
      }
      break;
    }
    case Kind::Flatten:
      y = x;
      break;
    case Kind::Scale:
      for (size_t i = 0; i < size; ++i) y[i] = x[i] * static_cast<T>(l.factor);
      break;
    case Kind::Embedding:
      for (size_t i = 0; i < size; ++i) {
        const int row = vocabulary_index(x[i / l.out.c], l.vocabulary);
        y[i] = p(l.weight)[static_cast<size_t>(row) * l.out.c + i % l.out.c];
      }
      break;
    case Kind::Position:
      for (size_t i = 0; i < size; ++i) y[i] = x[i] + p(l.weight)[i % l.out.size()];
      break;
    case Kind::Attention:
      attention(index);
      break;
  }
}

template <class T>
void ReferenceNetwork<T>::backward_layer(int index, std::span<T> gradients) {
  const Layer& l = graph_.layers[index];
  const std::vector<T>& x = values_[l.inputs[0]];
  std::vector<T>& dx = gradients_[l.inputs[0]];
  const std::vector<T>& dy = gradients_[index];
  const size_t size = dy.size();
  switch (l.kind) {
    case Kind::Input:
      break;
    case Kind::Conv:
    case Kind::Linear: {
      const ConvGeometry g = conv_geometry(graph_, l, n_);
      ref::conv_backward_data(g, g.n, dy.data(), p(l.weight), dx.data());
      if (!l.frozen)
        ref::conv_backward_weights(g, g.n, x.data(), dy.data(), grad(gradients, l.weight),
                                   grad(gradients, l.bias_param));
      else if (T* bias = l.bias_frozen ? nullptr : grad(gradients, l.bias_param))
        for (size_t i = 0; i < size; ++i) bias[i % static_cast<size_t>(g.oc)] += dy[i];
      break;
    }
    case Kind::BatchNorm:
    case Kind::LayerNorm:
    case Kind::GroupNorm:
      normalise_backward(index, gradients);
      break;
    case Kind::Activation:
      for (size_t i = 0; i < size; ++i) dx[i] += dy[i] * ref::activation_gradient<T>(l.act, x[i], l.slope);
      break;
    case Kind::MaxPool:
    case Kind::AvgPool:
    case Kind::GlobalAvgPool:
    case Kind::GlobalMaxPool:
      pool_backward(index);
      break;
    case Kind::Dropout:
      for (size_t i = 0; i < size; ++i)
        if (!drops(index, i)) dx[i] += dy[i] / (1 - static_cast<T>(l.rate));
      break;
    case Kind::Add:
      for (int input : l.inputs)
        for (size_t i = 0; i < size; ++i) gradients_[input][i] += dy[i];
      break;
    case Kind::Concat: {
      size_t first = 0;
      for (int input : l.inputs) {
        const size_t c = graph_.layers[input].out.c;
        for (size_t i = 0; i < gradients_[input].size(); ++i)
          gradients_[input][i] += dy[i / c * l.out.c + first + i % c];
        first += c;
      }
      break;
    }
    case Kind::Flatten:
      for (size_t i = 0; i < size; ++i) dx[i] += dy[i];
      break;
    case Kind::Scale:
      for (size_t i = 0; i < size; ++i) dx[i] += dy[i] * static_cast<T>(l.factor);
      break;
    case Kind::Embedding:
      for (size_t i = 0; i < size; ++i) {
        const int row = vocabulary_index(x[i / l.out.c], l.vocabulary);
        grad(gradients, l.weight)[static_cast<size_t>(row) * l.out.c + i % l.out.c] += dy[i];
      }
      break;
    case Kind::Position:
      for (size_t i = 0; i < size; ++i) {
        dx[i] += dy[i];
        grad(gradients, l.weight)[i % l.out.size()] += dy[i];
      }
      break;
    case Kind::Attention:
      attention_backward(index, gradients);
      break;
  }
}

template class ReferenceNetwork<float>;
template class ReferenceNetwork<double>;

}  // namespace radl::engine
