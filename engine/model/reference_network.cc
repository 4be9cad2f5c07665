#include "engine/model/reference_network.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/kernels/random.h"
#include "engine/kernels/ref/activation.h"
#include "engine/kernels/ref/conv.h"
#include "engine/kernels/ref/loss.h"
#include "engine/model/geometry.h"

namespace radl::engine {

namespace {

// Visits the elements of one normalisation group: all positions of a channel (batch), the channels of a
// position (layer), or a group's channels over a picture's positions.
struct NormGroups {
  Kind kind;
  int n, positions, channels, groups;

  int count() const {
    if (kind == Kind::BatchNorm) return channels;
    return kind == Kind::LayerNorm ? n * positions : n * groups;
  }
  template <class F>
  void visit(int group, F&& f) const {
    const size_t c = channels;
    if (kind == Kind::BatchNorm) {
      for (size_t row = 0; row < static_cast<size_t>(n) * positions; ++row) f(row * c + group, group);
    } else if (kind == Kind::LayerNorm) {
      for (size_t i = 0; i < c; ++i) f(group * c + i, static_cast<int>(i));
    } else {
      const size_t each = c / groups, picture = group / groups, first = group % groups * each;
      for (int position = 0; position < positions; ++position)
        for (size_t i = 0; i < each; ++i)
          f((picture * positions + position) * c + first + i, static_cast<int>(first + i));
    }
  }
};

NormGroups groups_of(const Layer& layer, int n) {
  return {layer.kind, n, layer.out.h * layer.out.w, layer.out.c, layer.groups};
}

}  // namespace

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
  for (size_t i = graph_.layers.size() - 1; i > 0; --i) backward_layer(static_cast<int>(i), gradients);
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
        const int row = std::clamp(static_cast<int>(x[i / l.out.c]), 0, l.vocabulary - 1);
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
        const int row = std::clamp(static_cast<int>(x[i / l.out.c]), 0, l.vocabulary - 1);
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

// Ioffe and Szegedy 2015; Ba et al. 2016; Wu and He 2018. Running variance is the unbiased one, as in
// PyTorch.
template <class T>
void ReferenceNetwork<T>::normalise(const Layer& l, const std::vector<T>& x, std::vector<T>& y, bool training,
                                    std::span<T> statistics) {
  const NormGroups groups = groups_of(l, n_);
  const bool running = l.kind == Kind::BatchNorm && !training;
  std::vector<T>& saved = saved_[&l - graph_.layers.data()];
  saved.assign(2 * groups.count(), T(0));
  for (int g = 0; g < groups.count(); ++g) {
    T mean = 0, variance = 0;
    if (running) {
      mean = statistics[graph_.statistics[l.running_mean].offset + g];
      variance = statistics[graph_.statistics[l.running_var].offset + g];
    } else {
      size_t count = 0;
      groups.visit(g, [&](size_t i, int) { mean += x[i], ++count; });
      mean /= count;
      groups.visit(g, [&](size_t i, int) { variance += (x[i] - mean) * (x[i] - mean); });
      variance /= count;
      if (l.kind == Kind::BatchNorm && training) {
        const T m = l.momentum, unbiased = count > 1 ? variance * count / (count - 1) : variance;
        T& old_mean = statistics[graph_.statistics[l.running_mean].offset + g];
        T& old_variance = statistics[graph_.statistics[l.running_var].offset + g];
        old_mean = (1 - m) * old_mean + m * mean;
        old_variance = (1 - m) * old_variance + m * unbiased;
      }
    }
    const T inverse = 1 / std::sqrt(variance + static_cast<T>(l.eps));
    saved[2 * g] = mean, saved[2 * g + 1] = inverse;
    groups.visit(g, [&](size_t i, int c) {
      y[i] = (x[i] - mean) * inverse * (l.weight < 0 ? T(1) : p(l.weight)[c]) +
             (l.bias_param < 0 ? T(0) : p(l.bias_param)[c]);
    });
  }
}

template <class T>
void ReferenceNetwork<T>::normalise_backward(int index, std::span<T> gradients) {
  const Layer& l = graph_.layers[index];
  const NormGroups groups = groups_of(l, n_);
  const std::vector<T>&x = values_[l.inputs[0]], &dy = gradients_[index];
  std::vector<T>& dx = gradients_[l.inputs[0]];
  T *dgamma = l.frozen ? nullptr : grad(gradients, l.weight),
    *dbeta = l.frozen ? nullptr : grad(gradients, l.bias_param);
  for (int g = 0; g < groups.count(); ++g) {
    const T mean = saved_[index][2 * g], inverse = saved_[index][2 * g + 1];
    T sum = 0, sum_x = 0;
    size_t count = 0;
    groups.visit(g, [&](size_t i, int c) {
      const T normal = (x[i] - mean) * inverse, d = dy[i] * (l.weight < 0 ? T(1) : p(l.weight)[c]);
      sum += d, sum_x += d * normal, ++count;
      if (dgamma) dgamma[c] += dy[i] * normal;
      if (dbeta) dbeta[c] += dy[i];
    });
    groups.visit(g, [&](size_t i, int c) {
      const T normal = (x[i] - mean) * inverse, d = dy[i] * (l.weight < 0 ? T(1) : p(l.weight)[c]);
      dx[i] += inverse * (d - sum / count - normal * sum_x / count);
    });
  }
}

namespace {

struct Window {
  int y0, y1, x0, x1;
};

Window window_at(const Layer& l, const Shape& in, int oy, int ox) {
  if (l.kind == Kind::GlobalAvgPool || l.kind == Kind::GlobalMaxPool) return {0, in.h, 0, in.w};
  const int y = oy * l.stride_h - l.pad_top, x = ox * l.stride_w - l.pad_left;
  return {std::max(y, 0), std::min(y + l.kernel_h, in.h), std::max(x, 0), std::min(x + l.kernel_w, in.w)};
}

// Calls f(output index, input index of the maximum, window) for every output element.
template <class T, class F>
void for_each_window(const Layer& l, const Shape& in, int n, const std::vector<T>& x, F&& f) {
  for (int b = 0; b < n; ++b)
    for (int oy = 0; oy < l.out.h; ++oy)
      for (int ox = 0; ox < l.out.w; ++ox)
        for (int c = 0; c < in.c; ++c) {
          const Window w = window_at(l, in, oy, ox);
          size_t best = 0;
          T most = -std::numeric_limits<T>::infinity();
          const auto at = [&](int y, int xx) {
            return ((static_cast<size_t>(b) * in.h + y) * in.w + xx) * in.c + c;
          };
          for (int y = w.y0; y < w.y1; ++y)
            for (int xx = w.x0; xx < w.x1; ++xx)
              if (x[at(y, xx)] > most) most = x[at(y, xx)], best = at(y, xx);
          f(((static_cast<size_t>(b) * l.out.h + oy) * l.out.w + ox) * in.c + c, best, w, at);
        }
}

bool takes_maximum(Kind kind) { return kind == Kind::MaxPool || kind == Kind::GlobalMaxPool; }

}  // namespace

template <class T>
void ReferenceNetwork<T>::pool(int index) {
  const Layer& l = graph_.layers[index];
  const std::vector<T>& x = values_[l.inputs[0]];
  for_each_window(l, graph_.layers[l.inputs[0]].out, n_, x,
                  [&](size_t out, size_t best, const Window& w, auto at) {
                    if (takes_maximum(l.kind)) {
                      values_[index][out] = x[best];
                      return;
                    }
                    T sum = 0;
                    for (int y = w.y0; y < w.y1; ++y)
                      for (int xx = w.x0; xx < w.x1; ++xx) sum += x[at(y, xx)];
                    values_[index][out] = sum / ((w.y1 - w.y0) * (w.x1 - w.x0));
                  });
}

template <class T>
void ReferenceNetwork<T>::pool_backward(int index) {
  const Layer& l = graph_.layers[index];
  std::vector<T>& dx = gradients_[l.inputs[0]];
  for_each_window(l, graph_.layers[l.inputs[0]].out, n_, values_[l.inputs[0]],
                  [&](size_t out, size_t best, const Window& w, auto at) {
                    const T d = gradients_[index][out];
                    if (takes_maximum(l.kind)) {
                      dx[best] += d;
                      return;
                    }
                    for (int y = w.y0; y < w.y1; ++y)
                      for (int xx = w.x0; xx < w.x1; ++xx)
                        dx[at(y, xx)] += d / ((w.y1 - w.y0) * (w.x1 - w.x0));
                  });
}

// Vaswani et al. 2017. saved_: per picture q, k, v [t, 3d], then heads x [t, t] probabilities, then the
// context [t, d].
template <class T>
void ReferenceNetwork<T>::attention(int index) {
  const Layer& l = graph_.layers[index];
  const int t = l.out.h * l.out.w, d = l.out.c, hd = d / l.heads;
  const size_t each =
      static_cast<size_t>(t) * 3 * d + static_cast<size_t>(l.heads) * t * t + static_cast<size_t>(t) * d;
  saved_[index].assign(n_ * each, T(0));
  const T scale = 1 / std::sqrt(static_cast<T>(hd));
  for (int b = 0; b < n_; ++b) {
    const T* x = values_[l.inputs[0]].data() + static_cast<size_t>(b) * t * d;
    T *qkv = saved_[index].data() + b * each, *prob = qkv + static_cast<size_t>(t) * 3 * d;
    T *context = prob + static_cast<size_t>(l.heads) * t * t,
      *y = values_[index].data() + static_cast<size_t>(b) * t * d;
    ref::conv_forward<T>(ConvGeometry{t, 1, 1, d, 1, 1, 3 * d}, t, x, p(l.weight), p(l.bias_param), qkv);
    for (int h = 0; h < l.heads; ++h)
      for (int i = 0; i < t; ++i) {
        T* row = prob + (static_cast<size_t>(h) * t + i) * t;
        const int last = l.causal ? i + 1 : t;
        T most = -std::numeric_limits<T>::infinity(), sum = 0;
        for (int j = 0; j < last; ++j) {
          T dot = 0;
          for (int e = 0; e < hd; ++e) dot += qkv[i * 3 * d + h * hd + e] * qkv[j * 3 * d + d + h * hd + e];
          row[j] = dot * scale;
          most = std::max(most, row[j]);
        }
        for (int j = 0; j < last; ++j) sum += row[j] = std::exp(row[j] - most);
        for (int j = 0; j < last; ++j) row[j] /= sum;
        for (int j = 0; j < last; ++j)
          for (int e = 0; e < hd; ++e)
            context[i * d + h * hd + e] += row[j] * qkv[j * 3 * d + 2 * d + h * hd + e];
      }
    ref::conv_forward<T>(ConvGeometry{t, 1, 1, d, 1, 1, d}, t, context, p(l.weight2), p(l.bias2), y);
  }
}

template <class T>
void ReferenceNetwork<T>::attention_backward(int index, std::span<T> gradients) {
  const Layer& l = graph_.layers[index];
  const int t = l.out.h * l.out.w, d = l.out.c, hd = d / l.heads;
  const size_t each =
      static_cast<size_t>(t) * 3 * d + static_cast<size_t>(l.heads) * t * t + static_cast<size_t>(t) * d;
  const T scale = 1 / std::sqrt(static_cast<T>(hd));
  for (int b = 0; b < n_; ++b) {
    const T* x = values_[l.inputs[0]].data() + static_cast<size_t>(b) * t * d;
    const T *qkv = saved_[index].data() + b * each, *prob = qkv + static_cast<size_t>(t) * 3 * d;
    const T* context = prob + static_cast<size_t>(l.heads) * t * t;
    const T* dy = gradients_[index].data() + static_cast<size_t>(b) * t * d;
    std::vector<T> dcontext(static_cast<size_t>(t) * d), dqkv(static_cast<size_t>(t) * 3 * d), dprob(t);
    const ConvGeometry out{t, 1, 1, d, 1, 1, d}, in{t, 1, 1, d, 1, 1, 3 * d};
    ref::conv_backward_data<T>(out, t, dy, p(l.weight2), dcontext.data());
    ref::conv_backward_weights<T>(out, t, context, dy, grad(gradients, l.weight2), grad(gradients, l.bias2));
    for (int h = 0; h < l.heads; ++h)
      for (int i = 0; i < t; ++i) {
        const T* row = prob + (static_cast<size_t>(h) * t + i) * t;
        const int last = l.causal ? i + 1 : t;
        T sum = 0;
        for (int j = 0; j < last; ++j) {
          dprob[j] = 0;
          for (int e = 0; e < hd; ++e) {
            dprob[j] += dcontext[i * d + h * hd + e] * qkv[j * 3 * d + 2 * d + h * hd + e];
            dqkv[j * 3 * d + 2 * d + h * hd + e] += row[j] * dcontext[i * d + h * hd + e];
          }
          sum += dprob[j] * row[j];
        }
        for (int j = 0; j < last; ++j) {
          const T ds = row[j] * (dprob[j] - sum) * scale;
          for (int e = 0; e < hd; ++e) {
            dqkv[i * 3 * d + h * hd + e] += ds * qkv[j * 3 * d + d + h * hd + e];
            dqkv[j * 3 * d + d + h * hd + e] += ds * qkv[i * 3 * d + h * hd + e];
          }
        }
      }
    T* dx = gradients_[l.inputs[0]].data() + static_cast<size_t>(b) * t * d;
    ref::conv_backward_data<T>(in, t, dqkv.data(), p(l.weight), dx);
    ref::conv_backward_weights<T>(in, t, x, dqkv.data(), grad(gradients, l.weight),
                                  grad(gradients, l.bias_param));
  }
}

template class ReferenceNetwork<float>;
template class ReferenceNetwork<double>;

}  // namespace radl::engine
