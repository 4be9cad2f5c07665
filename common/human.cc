#include "common/human.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace radl {
namespace {

constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};

// The largest unit of which there is one; `bytes` becomes the number of them.
size_t unit_of(double& bytes) {
  size_t unit = 0;
  for (; std::fabs(bytes) >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return unit;
}

constexpr std::pair<std::string_view, std::string_view> kLabels[] = {
    {"test_accuracy", "test accuracy"},
    {"test_accuracy_tta", "test accuracy with test-time augmentation"},
    {"test_loss", "test loss"},
    {"test_images", "test images"},
    {"train_accuracy", "training accuracy"},
    {"train_loss", "training loss"},
    {"train_seconds", "training time"},
    {"seconds", "whole run"},
    {"images_per_second", "throughput"},
    {"data_wait_seconds", "waiting for data"},
    {"checkpoint_stall_seconds", "held up by checkpoints"},
    {"checkpoint_writing_seconds", "writing checkpoints"},
    {"first_step_seconds", "first training step after"},
    {"skipped_images", "skipped images"},
    {"resumed_from", "resumed from step"},
};

bool is_share(std::string_view key) {
  return key.find("accuracy") != key.npos || key.ends_with("_share") || key.ends_with("_fraction");
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds > 0 && seconds < 0.1) return fmt::format("{:.3g} ms", seconds * 1000);
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
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string counted(size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string bytes_text(double bytes) {
  const size_t unit = unit_of(bytes);
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string plain_number(double value) {
  if (value == std::floor(value) && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.6g}", value);
}

std::string size_text(double bytes) {
  constexpr const char* kDecimal[] = {"bytes", "KB", "MB", "GB", "TB", "PB"};
  double binary = bytes, decimal = bytes;
  const size_t unit = unit_of(binary);
  const double rounded = std::round(binary * 100) / 100;
  // What is not even in powers of 1024 may have been written in powers of 1000.
  if (rounded != binary) {
    size_t step = 0;
    for (; std::fabs(decimal) >= 1000 && step + 1 < std::size(kDecimal); ++step) decimal /= 1000;
    if (std::round(decimal * 10) / 10 == decimal)
      return fmt::format("{} {}", plain_number(decimal), kDecimal[step]);
  }
  return fmt::format("{} {}", plain_number(rounded), kUnits[unit]);
}

std::string human_label(std::string_view key) {
  for (const auto& [known, label] : kLabels) {
    if (known == key) return std::string(label);
  }
  for (std::string_view unit : {"_seconds", "_bytes"}) {
    if (key.ends_with(unit)) key.remove_suffix(unit.size());
  }
  std::string label(key);
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

std::string human_number(std::string_view key, double number) {
  if (!std::isfinite(number)) return "unknown";
  if (is_share(key) && number >= 0 && number <= 1) return fmt::format("{:.2f}%", number * 100);
  if (key == "images_per_second") return grouped(number) + " images/s";
  if (key.ends_with("_per_second")) return grouped(number) + "/s";
  if (key == "seconds" || key.ends_with("_seconds")) return duration_text(number);
  if (key == "bytes" || key.ends_with("_bytes")) return bytes_text(number);
  if (number == std::floor(number))
    return std::fabs(number) < 1e15 ? grouped(number) : fmt::format("{:.4g}", number);
  return fmt::format("{:.4g}", number);
}

}  // namespace radl
