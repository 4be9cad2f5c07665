#include "engine/cli/progress_view.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/human.h"
#include "common/json_values.h"

namespace radl::engine::cli {
namespace {

constexpr double kPlainSeconds = 10;  // between progress lines where there is no terminal
constexpr int kBar = 24;

std::string bar(double share) {
  const int full = std::min(kBar, std::max(0, int(share * kBar + 0.5)));
  return "[" + std::string(size_t(full), '#') + std::string(size_t(kBar - full), '.') + "]";
}

double number(const nlohmann::json& e, const char* key) {
  auto found = e.find(key);
  return found == e.end() ? 0 : json::read_number(*found).value_or(0);
}

std::string step_text(const nlohmann::json& e) {
  const double epochs = e.value("epochs", 0.0), epoch = e.value("epoch", 0.0);
  std::string text = fmt::format("{} epoch {:.2f} of {:g}  step {}", bar(epochs > 0 ? epoch / epochs : 0),
                                 epoch, epochs, e.value("step", uint64_t(0)));
  text += fmt::format("  loss {:.3f}  accuracy {:.1f}%  {:.0f} images/s", number(e, "loss"),
                      100 * number(e, "accuracy"), number(e, "images_per_second"));
  if (e.contains("eta_seconds") && e["eta_seconds"].is_number())
    text += "  " + duration_text(e["eta_seconds"].get<double>()) + " left";
  return text;
}

// What stays on the screen; "" for events that need no line.
std::string event_text(const std::string& kind, const nlohmann::json& e) {
  if (kind == "evaluated") {
    return fmt::format("epoch {:g}: test accuracy {:.2f}%, test loss {:.3f}", e.value("epoch", 0.0),
                       100 * number(e, "test_accuracy"), number(e, "test_loss"));
  }
  if (kind == "peer_lost")
    return fmt::format("lost {} after {:.1f} s", e.value("peer", ""), e.value("after_seconds", 0.0));
  if (kind == "warning" || kind == "note" || kind == "strategy") return e.value("message", "");
  if (kind == "resumed") return fmt::format("resumes at step {}", e.value("step", uint64_t(0)));
  return "";
}

}  // namespace

void ProgressView::line(std::string_view json) {
  const auto e = nlohmann::json::parse(json, nullptr, false);
  if (!e.is_object()) return;
  try {
    const std::string kind = e.value("event", "");
    if (kind == "step") {
      if (terminal_) {
        meter_.line(step_text(e));
      } else if (seconds_since(last_plain_) >= kPlainSeconds) {
        last_plain_ = SteadyClock::now();
        meter_.say(step_text(e));
      }
    } else if (const std::string text = event_text(kind, e); !text.empty()) {
      meter_.say(text);
    }
  } catch (const nlohmann::json::exception&) {
    // A line of another version: it is in the progress file for whoever knows it.
  }
}

}  // namespace radl::engine::cli
