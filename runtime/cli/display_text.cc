// The small texts that both displays and the final table share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/cli/display.h"

namespace radl::cli {

std::string duration_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  if (seconds < 60) return fmt::format("{:.0f} s", seconds);
  long long whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string grouped(double number) {
  std::string digits = fmt::format("{:.0f}", number);
  size_t first = digits.starts_with('-') ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string bar_text(double fraction, int width) {
  int full = static_cast<int>(std::clamp(fraction, 0.0, 1.0) * width + 0.5);
  return "[" + std::string(static_cast<size_t>(full), '#') +
         std::string(static_cast<size_t>(width - full), '-') + "]";
}

std::string training_text(const TrainingProgress& training) {
  if (!training.started) return "starting";
  std::string text = fmt::format("epoch {:.1f}/{:g}  {} images/s  loss {:.3f}  accuracy {:.1f}%",
                                 training.epoch, training.epochs, grouped(training.images_per_second),
                                 training.loss, training.accuracy * 100);
  if (training.test_accuracy) text += fmt::format("  test {:.2f}%", *training.test_accuracy * 100);
  if (training.eta_seconds && !training.finished) text += "  ETA " + duration_text(*training.eta_seconds);
  for (const std::string& peer : training.lost_peers) text += "  lost " + peer;
  return text;
}

}  // namespace radl::cli
