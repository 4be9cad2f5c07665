// Notices that training went wrong: a loss that is no number, or an accuracy that collapsed.
//
// It looks at training batches only, never at the test set. Collapse: the mean training accuracy of the last
// window is near chance although an earlier window was at three times chance or better.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "common/status.h"

namespace radl::engine {

class DivergenceGuard {
 public:
  DivergenceGuard(int classes, uint64_t window)
      : chance_(1.0 / classes), window_(window < 20 ? 20 : window) {}

  // Some more training steps: their summed loss, and right and seen images. Invalid when the run is to be
  // stopped.
  Status add(uint64_t batch, uint64_t steps, double loss_sum, uint64_t correct, uint64_t images) {
    if (!std::isfinite(loss_sum)) {
      return {Code::Invalid,
              fmt::format("training diverged: the loss became {} at batch {}; try a lower schedule.peak",
                          std::fabs(loss_sum), batch)};
    }
    steps_ += steps;
    correct_ += correct;
    images_ += images;
    if (steps_ < window_ || images_ == 0) return {};
    double accuracy = static_cast<double>(correct_) / static_cast<double>(images_);
    steps_ = correct_ = images_ = 0;
    if (best_ >= 3 * chance_ && accuracy < 1.3 * chance_) {
      return {
          Code::Invalid,
          fmt::format(
              "training collapsed: its accuracy fell from {:.1f}% to {:.1f}%, which is chance, by batch {}; "
              "try a lower schedule.peak",
              100 * best_, 100 * accuracy, batch)};
    }
    if (accuracy > best_) best_ = accuracy;
    return {};
  }

 private:
  double chance_;
  uint64_t window_, steps_ = 0, correct_ = 0, images_ = 0;
  double best_ = 0;
};

}  // namespace radl::engine
