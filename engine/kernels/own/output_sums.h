// Per-channel sums and sums of squares of a convolution's output, computed by its kernels.
//
// A kernel adds to the fp32 sums of one work item. The items' sums are added in double, in item order, so the
// result depends neither on the number of threads nor on the assignment of items.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace radl::engine::own {

class OutputSums {
 public:
  OutputSums() = default;
  // `lanes`: channels, rounded up to the kernels' vector width.
  OutputSums(size_t items, size_t lanes) : width_(2 * lanes), items_(items * width_) {}

  // The item's sums [2][lanes], initially zero, for a kernel to add to.
  float* of(size_t item) {
    float* to = items_.data() + item * width_;
    std::fill_n(to, width_, 0.0f);
    return to;
  }
  // Adds the first `items` into sums [2][channels].
  void total(size_t items, size_t channels, double* sums) const {
    std::fill_n(sums, 2 * channels, 0.0);
    const float* from = items_.data();
    for (size_t item = 0; item < items; ++item, from += width_)
      for (size_t c = 0; c < channels; ++c) {
        sums[c] += from[c];
        sums[channels + c] += from[width_ / 2 + c];
      }
  }

 private:
  size_t width_ = 0;
  std::vector<float> items_;
};

}  // namespace radl::engine::own
