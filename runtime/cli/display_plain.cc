#include <fmt/format.h>

#include <cstdio>
#include <mutex>

#include "runtime/cli/display.h"

namespace radl::cli {
namespace {

constexpr double kMetricEverySeconds = 5;

class PlainDisplay : public Display {
 public:
  PlainDisplay(const Plan& plan, const Terminal& terminal) : progress_(plan), style_(terminal.color) {}

  void emit(const Event& event) override {
    std::lock_guard hold(mutex_);
    progress_.emit(event);
    std::string line = text_of(event);
    if (line.empty()) return;
    std::fputs((line + "\n").c_str(), stdout);
    std::fflush(stdout);
  }

  void close() override {}

 private:
  std::string text_of(const Event& event) {
    double seconds = event.data.is_object() ? event.data.value("seconds", 0.0) : 0.0;
    switch (event.kind) {
      case EventKind::Recovered:
        return fmt::format("{}: left by an interrupted run: {}", event.id, event.data.value("outcome", ""));
      case EventKind::ActionStarted:
        return event.data.value("attempt", 1) > 1 ? "" : fmt::format("{}: {} ...", event.id, event.verb);
      case EventKind::ActionFinished: {
        int changes = event.data.value("changes", -1);
        std::string what = event.verb == "run" && changes >= 0
                               ? fmt::format(", {} change{}", changes, changes == 1 ? "" : "s")
                               : "";
        return fmt::format("{}: {}done{} ({}{})", event.id, style_.green(), style_.off(),
                           duration_text(seconds), what);
      }
      case EventKind::ActionRetry:
        return fmt::format("{}: {}; trying again in {}", event.id, event.message,
                           duration_text(event.data.value("wait_seconds", 0.0)));
      case EventKind::ActionFailed:
        return fmt::format("{}: {}failed{} after {}", event.id, style_.red(), style_.off(),
                           duration_text(seconds));
      case EventKind::ActionSkipped:
        return fmt::format("{}: skipped, {}", event.id, event.message);
      case EventKind::Metric:
        return metric(event);
      case EventKind::Log:
        return event.message;
      case EventKind::Cancelled:
        return event.data.value("level", 1) >= 2
                   ? "stopping now"
                   : "stopping: what is under way is finished and saved; once more stops at once";
      case EventKind::Leftover:
        return fmt::format("{}: could not be removed: {}", event.id, event.message);
      default:
        return "";
    }
  }

  // A line every few seconds, and always for an evaluation, a lost peer or a note.
  std::string metric(const Event& event) {
    std::string what = event.data.is_object() ? event.data.value("event", "") : "";
    auto found = progress_.trainings().find(event.id);
    if (found == progress_.trainings().end() || what == "started" || what == "checkpoint") return "";
    if (what == "peer_lost")
      return fmt::format("{}: lost {}, going on with the others", event.id, event.data.value("peer", "?"));
    bool due = event.time - last_metric_ >= kMetricEverySeconds;
    if (what == "step" && !due) return "";
    last_metric_ = event.time;
    return event.id + ": " + training_text(found->second);
  }

  std::mutex mutex_;
  Progress progress_;
  Style style_;
  double last_metric_ = 0;
};

}  // namespace

std::unique_ptr<Display> plain_display(const Plan& plan, const Terminal& terminal) {
  return std::make_unique<PlainDisplay>(plan, terminal);
}

}  // namespace radl::cli
