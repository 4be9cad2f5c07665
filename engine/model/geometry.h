// The convolution of a Conv or Linear layer: a linear layer is a 1x1 convolution over rows.
#pragma once

#include "engine/kernels/conv_geometry.h"
#include "engine/model/graph.h"

namespace radl::engine {

inline ConvGeometry conv_geometry(const Graph& graph, const Layer& l, int n) {
  const Shape& in = graph.layers[l.inputs[0]].out;
  if (l.kind == Kind::Linear) {
    const int rows = l.per_token ? n * in.h * in.w : n, c = l.per_token ? in.c : static_cast<int>(in.size());
    return {rows, 1, 1, c, 1, 1, l.filters};
  }
  return {n,          in.h,         in.w,        in.c,         l.out.h,      l.out.w,
          l.out.c,    l.kernel_h,   l.kernel_w,  l.stride_h,   l.stride_w,   l.pad_top,
          l.pad_left, l.pad_bottom, l.pad_right, l.dilation_h, l.dilation_w, l.groups};
}

}  // namespace radl::engine
