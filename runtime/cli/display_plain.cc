#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/cli/display.h"
#include "runtime/cli/shown.h"

namespace radl::cli {
namespace {

constexpr double kMetricEverySeconds = 5;

class PlainDisplay : public Display {
 public:
  PlainDisplay(const Plan& plan, const Terminal& terminal)
      : progress_(plan), color_(terminal.color), style_(terminal.color) {}

  void emit(const Event& event) override {
    std::lock_guard hold(mutex_);
    progress_.emit(event);
    std::string line = text_of(event);
    if (line.empty()) return;
    std::fputs((shown(line, color_) + "\n").c_str(), stdout);
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

  // A line every few seconds, and always for an evaluation, a lost peer or a note; never the same line again.
  std::string metric(const Event& event) {
    std::string what = event.data.is_object() ? event.data.value("event", "") : "";
    auto found = progress_.trainings().find(event.id);
    if (found == progress_.trainings().end()) return "";
    const TrainingProgress& training = found->second;
    if (what == "peer_lost")
      return fmt::format("{}: lost {}, going on with the others", event.id, event.data.value("peer", "?"));
    if (what == "peer_joined" && training.started)
      return fmt::format("{}: {} has joined", event.id, event.data.value("peer", "?"));
    if (what == "warning") return fmt::format("{}: {}", event.id, event.data.value("message", ""));
    if (what == "dataset" && !training.dataset_note.empty())
      return fmt::format("{}: {}", event.id, training.dataset_note);
    bool over = what == "finished" && training.finished;
    if (!training.started || (what != "step" && what != "evaluated" && !over)) return "";
    Last& last = last_[event.id];
    if (what == "step" && event.time - last.time < kMetricEverySeconds) return "";
    std::string line = event.id + ": " + training_text(training);
    last.time = event.time;
    return std::exchange(last.line, line) == line ? "" : line;
  }

  struct Last {
    double time = 0;
    std::string line;
  };

  std::mutex mutex_;
  Progress progress_;
  bool color_;
  Style style_;
  std::map<std::string, Last> last_;  // by training
};

}  // namespace

std::unique_ptr<Display> plain_display(const Plan& plan, const Terminal& terminal) {
  return std::make_unique<PlainDisplay>(plan, terminal);
}

}  // namespace radl::cli
