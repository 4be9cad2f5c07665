#include "engine/data/shrink.h"

#include <algorithm>
#include <cmath>

namespace radl::engine::data {

Shrink::Shrink(InputShape from, InputShape to)
    : from_(from), to_(to), rows_(side(from.height, to.height)), columns_(side(from.width, to.width)) {}

Shrink::Side Shrink::side(int from, int to) {
  Side out;
  const double ratio = double(from) / to;
  out.most = std::min(from, int(std::ceil(ratio)) + 1);
  for (int i = 0; i < to; ++i) {
    const double begin = i * ratio, end = (i + 1) * ratio;
    const int first = std::min(int(begin), from - out.most);
    out.first.push_back(first);
    for (int k = 0; k < out.most; ++k) {
      const double covered = std::min(end, first + k + 1.0) - std::max(begin, double(first + k));
      out.weight.push_back(float(std::max(covered, 0.0) / ratio));
    }
  }
  return out;
}

void Shrink::apply(std::span<const float> in, std::span<float> out) const {
  const int channels = from_.channels;
  const size_t row = size_t(from_.width) * size_t(channels);
  thread_local std::vector<float> mean;
  mean.resize(row);
  float* to = out.data();
  for (int y = 0; y < to_.height; ++y) {
    std::fill(mean.begin(), mean.end(), 0.0f);
    for (int k = 0; k < rows_.most; ++k) {
      const float weight = rows_.weight[size_t(y * rows_.most + k)];
      const float* from = in.data() + size_t(rows_.first[size_t(y)] + k) * row;
      for (size_t i = 0; i < row; ++i) mean[i] += weight * from[i];
    }
    for (int x = 0; x < to_.width; ++x, to += channels) {
      const float* weight = columns_.weight.data() + size_t(x * columns_.most);
      const float* from = mean.data() + size_t(columns_.first[size_t(x)]) * size_t(channels);
      std::fill(to, to + channels, 0.0f);
      for (int k = 0; k < columns_.most; ++k)
        for (int c = 0; c < channels; ++c) to[c] += weight[k] * from[k * channels + c];
    }
  }
}

}  // namespace radl::engine::data
