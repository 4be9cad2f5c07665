// Per-channel sums and sums of squares of a convolution's output, which its kernels add up on the way.
//
// A kernel adds to the fp32 sums of one item of work; those are added in double, thread by thread, so that
// the result depends on the number of threads alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace radl::engine::own {

class OutputSums {
 public:
  OutputSums() = default;
  // `lanes`: channels, rounded up to what the kernels write.
  OutputSums(int threads, size_t lanes)
      : width_(2 * lanes), item_(threads * width_), thread_(threads * width_) {}

  void clear() { std::fill(thread_.begin(), thread_.end(), 0.0); }
  // [2][lanes] zeros of a thread, for a kernel to add to.
  float* begin_item(int thread) {
    float* item = item_.data() + thread * width_;
    std::fill_n(item, width_, 0.0f);
    return item;
  }
  void end_item(int thread) {
    for (size_t j = thread * width_; j < (thread + 1) * width_; ++j) thread_[j] += item_[j];
  }
  // sums [2][channels].
  void total(size_t channels, double* sums) const {
    std::fill_n(sums, 2 * channels, 0.0);
    for (size_t c = 0; c < channels; ++c) {
      for (size_t t = 0; t < thread_.size(); t += width_) {
        sums[c] += thread_[t + c];
        sums[channels + c] += thread_[t + width_ / 2 + c];
      }
    }
  }

 private:
  size_t width_ = 0;
  std::vector<float> item_;
  std::vector<double> thread_;
};

}  // namespace radl::engine::own
