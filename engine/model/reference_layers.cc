// The reference network's layers of more than a line: normalisation, pooling, attention.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/kernels/ref/conv.h"
#include "engine/model/geometry.h"
#include "engine/model/reference_network.h"

namespace radl::engine {

namespace {

// Visits the elements of one normalisation group: all positions of a channel (batch), the channels of a
// position (layer), or a group's channels over an image's positions.
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
      const size_t each = c / groups, image = group / groups, first = group % groups * each;
      for (int position = 0; position < positions; ++position)
        for (size_t i = 0; i < each; ++i)
          f((image * positions + position) * c + first + i, static_cast<int>(first + i));
    }
  }
};

NormGroups groups_of(const Layer& layer, int n) {
  return {layer.kind, n, layer.out.h * layer.out.w, layer.out.c, layer.groups};
}

}  // namespace

// Ioffe and Szegedy 2015; Ba et al. 2016; Wu and He 2018. Running variance is the unbiased one, as in
// PyTorch.
template <class T>
void ReferenceNetwork<T>::normalise(const Layer& l, const std::vector<T>& x, std::vector<T>& y, bool training,
                                    std::span<T> statistics) {
  const NormGroups groups = groups_of(l, n_);
  const bool running = l.kind == Kind::BatchNorm && (!training || l.frozen);
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
      if (l.kind == Kind::BatchNorm) {
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
    // A frozen batch normalisation's statistics are constants: they do not depend on x.
    if (l.kind == Kind::BatchNorm && l.frozen) sum = sum_x = 0;
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
          const auto at = [&](int y, int xx) {
            return ((static_cast<size_t>(b) * in.h + y) * in.w + xx) * in.c + c;
          };
          size_t best = at(w.y0, w.x0);
          for (int y = w.y0; y < w.y1; ++y)
            for (int xx = w.x0; xx < w.x1; ++xx)
              if (x[at(y, xx)] > x[best] || std::isnan(x[at(y, xx)])) best = at(y, xx);
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

// Vaswani et al. 2017. saved_: per image q, k, v [t, 3d], then heads x [t, t] probabilities, then the
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

template void ReferenceNetwork<float>::normalise(const Layer&, const std::vector<float>&, std::vector<float>&,
                                                 bool, std::span<float>);
template void ReferenceNetwork<float>::normalise_backward(int, std::span<float>);
template void ReferenceNetwork<float>::pool(int);
template void ReferenceNetwork<float>::pool_backward(int);
template void ReferenceNetwork<float>::attention(int);
template void ReferenceNetwork<float>::attention_backward(int, std::span<float>);
template void ReferenceNetwork<double>::normalise(const Layer&, const std::vector<double>&,
                                                  std::vector<double>&, bool, std::span<double>);
template void ReferenceNetwork<double>::normalise_backward(int, std::span<double>);
template void ReferenceNetwork<double>::pool(int);
template void ReferenceNetwork<double>::pool_backward(int);
template void ReferenceNetwork<double>::attention(int);
template void ReferenceNetwork<double>::attention_backward(int, std::span<double>);

}  // namespace radl::engine
