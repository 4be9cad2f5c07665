// Convolution in plain loops: the reference for tests. T is float or double. x [n,h,w,c], y [n,oh,ow,oc],
// weights [oc, c/groups, kh, kw] (PyTorch's order).
#pragma once

#include <cstddef>

#include "engine/kernels/conv_geometry.h"

namespace radl::engine::ref {

// Calls f(x_index, y_index, w_index) for every multiply-add of the convolution.
template <class F>
void for_each_product(const ConvGeometry& g, int n, F&& f) {
  const int cg = g.c / g.groups, og = g.oc / g.groups;
  for (int b = 0; b < n; ++b)
    for (int oy = 0; oy < g.oh; ++oy)
      for (int ox = 0; ox < g.ow; ++ox)
        for (int ky = 0; ky < g.kh; ++ky)
          for (int kx = 0; kx < g.kw; ++kx) {
            const int y = oy * g.sh - g.pt + ky * g.dh, x = ox * g.sw - g.pl + kx * g.dw;
            if (y < 0 || y >= g.h || x < 0 || x >= g.w) continue;
            const size_t in = ((static_cast<size_t>(b) * g.h + y) * g.w + x) * g.c;
            const size_t out = ((static_cast<size_t>(b) * g.oh + oy) * g.ow + ox) * g.oc;
            for (int o = 0; o < g.oc; ++o) {
              const int group = o / og;
              for (int i = 0; i < cg; ++i)
                f(in + group * cg + i, out + o, ((static_cast<size_t>(o) * cg + i) * g.kh + ky) * g.kw + kx);
            }
          }
}

// y = conv(x, w) + bias (bias may be null)
template <class T>
void conv_forward(const ConvGeometry& g, int n, const T* x, const T* w, const T* bias, T* y) {
  const size_t count = static_cast<size_t>(n) * g.oh * g.ow * g.oc;
  for (size_t i = 0; i < count; ++i) y[i] = bias ? bias[i % g.oc] : T(0);
  for_each_product(g, n, [&](size_t in, size_t out, size_t k) { y[out] += x[in] * w[k]; });
}

// dx += gradient of the input
template <class T>
void conv_backward_data(const ConvGeometry& g, int n, const T* dy, const T* w, T* dx) {
  for_each_product(g, n, [&](size_t in, size_t out, size_t k) { dx[in] += dy[out] * w[k]; });
}

// dw += gradient of the weights, dbias += gradient of the bias (may be null)
template <class T>
void conv_backward_weights(const ConvGeometry& g, int n, const T* x, const T* dy, T* dw, T* dbias) {
  for_each_product(g, n, [&](size_t in, size_t out, size_t k) { dw[k] += x[in] * dy[out]; });
  const size_t count = static_cast<size_t>(n) * g.oh * g.ow * g.oc;
  if (dbias)
    for (size_t i = 0; i < count; ++i) dbias[i % g.oc] += dy[i];
}

}  // namespace radl::engine::ref
