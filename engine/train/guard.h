// Detects diverged training: a non-finite loss, or a collapse of the accuracy.
//
// The guard sees training batches only. A collapse means that the accuracy of several consecutive windows is
// at chance level after an earlier window was well above it. Both must be statistically significant, because
// small windows vary. One window is not enough: with gradients of older weights (mode "async"), the accuracy
// drops to chance when a worker joins at a high learning rate, and then recovers.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "common/status.h"

namespace radl::engine {

// The error of every diverged run.
inline Status diverged(const std::string& what) {
  return Status(Code::Invalid, "training diverged: " + what)
      .with_hint("lower the learning rate, schedule.peak");
}

class DivergenceGuard {
 public:
  // `chance`: the accuracy of a constant answer, that is, the share of the largest class.
  DivergenceGuard(double chance, uint64_t window) : chance_(chance), window_(window < 20 ? 20 : window) {}

  // Adds training steps: their summed loss, and correct and seen images. Invalid if the run must stop.
  Status add(uint64_t batch, uint64_t steps, double loss_sum, uint64_t correct, uint64_t images) {
    if (!std::isfinite(loss_sum))
      return diverged(fmt::format("the loss became {} at batch {}", std::fabs(loss_sum), batch));
    now_.add(correct, images);
    steps_ += steps;
    if (steps_ < window_ || now_.images == 0) return {};
    const Window window = now_;
    now_ = {};
    steps_ = 0;
    at_chance_ = best_.images > 0 && collapsed(window) ? at_chance_ + 1 : 0;
    if (at_chance_ == kLasting) {
      return Status(Code::Invalid,
                    fmt::format("training collapsed: its accuracy fell from {:.1f}% to {:.1f}%, which is "
                                "chance, by batch {}",
                                100 * best_.accuracy(), 100 * window.accuracy(), batch))
          .with_hint("lower the learning rate, schedule.peak");
    }
    if (learned(window) && window.accuracy() > best_.accuracy()) best_ = window;
    return {};
  }

 private:
  static constexpr double kDeviations = 4;  // standard deviations from chance
  static constexpr int kLasting = 4;        // consecutive windows that make a collapse: 80 batches or more

  struct Window {
    uint64_t correct = 0, images = 0;
    void add(uint64_t more_correct, uint64_t more_images) {
      correct += more_correct;
      images += more_images;
    }
    double accuracy() const {
      return images == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(images);
    }
    double variance() const { return accuracy() * (1 - accuracy()) / static_cast<double>(images); }
  };

  // Three times chance, or two ninths of the way from chance to perfect: equal for ten classes.
  bool learned(const Window& w) const {
    const double most_by_luck =
        kDeviations * std::sqrt(chance_ * (1 - chance_) / static_cast<double>(w.images));
    return w.accuracy() >= std::min(3 * chance_, chance_ + (1 - chance_) * 2 / 9) &&
           w.accuracy() >= chance_ + most_by_luck;
  }
  bool collapsed(const Window& w) const {
    return w.accuracy() < std::min(1.3 * chance_, chance_ + (1 - chance_) / 30) &&
           best_.accuracy() - w.accuracy() > kDeviations * std::sqrt(best_.variance() + w.variance());
  }

  double chance_;
  uint64_t window_, steps_ = 0;
  int at_chance_ = 0;  // consecutive windows
  Window now_, best_;  // best_ has no images until a window has learned something
};

}  // namespace radl::engine
