// The small texts that both displays share.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/cli/display.h"
#include "runtime/steps/jobs/usage.h"

namespace radl::cli {

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

std::string member_text(const MemberProgress& member) {
  const jobs::Usage usage{member.processors, member.memory_bytes, member.received,
                          member.sent,       member.gpu,          member.stopped};
  return jobs::usage_text(usage) + (member.line.empty() ? "" : "  " + member.line);
}

}  // namespace radl::cli
