#include "engine/kernels/bias.h"

#include <algorithm>

namespace radl::engine {

void ChannelSums::run(const void* x, size_t rows, double* out) {
  const size_t width = 2 * static_cast<size_t>(channels_);
  std::fill(part_.begin(), part_.end(), 0.0);
  parallel_for(threads_, rows, kRows, [&](size_t begin, size_t end, int thread) {
    double* total = part_.data() + thread * width;
    float* block = block_.data() + thread * width;
    for (size_t row = begin; row < end; row += kRows) {
      std::fill_n(block, width, 0.0f);
      kernels_.channel_sums(static_cast<const std::byte*>(x) + row * channels_ * element_,
                            std::min(kRows, end - row), channels_, block, block + channels_);
      for (size_t i = 0; i < width; ++i) total[i] += block[i];
    }
  });
  std::fill_n(out, width, 0.0);
  for (int t = 0; t < threads_; ++t)
    for (size_t i = 0; i < width; ++i) out[i] += part_[t * width + i];
}

}  // namespace radl::engine
