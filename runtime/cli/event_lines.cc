#include "runtime/cli/event_lines.h"

#include <fmt/format.h>

#include <utility>

#include "common/human.h"
#include "common/json_values.h"
#include "runtime/cli/display.h"
#include "runtime/cli/shown.h"
#include "runtime/plan/render.h"

namespace radl::cli {
namespace {

constexpr double kMetricEverySeconds = 5;

// "node[0]: no room": an error may begin with what it is of.
std::string of_item(const Event& event) {
  std::string text =
      event.message.starts_with(event.id + ": ") ? event.message : event.id + ": " + event.message;
  while (text.ends_with('.')) text.pop_back();
  return text;
}

// "worker[0] | step 3: loss 0.21", of programs alone: what a step's commands print is in its log.
std::string output_text(const Event& event) {
  if (!json::flag_of(event.data, "program")) return "";
  return fmt::format("{} | {}", event.node, json::text_of(event.data, "line"));
}

}  // namespace

std::string notice_text(const Event& event) {
  if (event.kind != EventKind::Task || !json::flag_of(event.data, "notice")) return "";
  return fmt::format("{}: {}{}{}", event.id, event.node, event.node.empty() ? "" : ": ",
                     json::text_of(event.data, "name"));
}

std::string EventLines::line(const Event& event) {
  progress_.emit(event);
  std::string text = text_of(event);
  return text.empty() ? text : shown(text, color_);
}

std::string EventLines::text_of(const Event& event) {
  const double seconds = json::number_of(event.data, "seconds");
  switch (event.kind) {
    case EventKind::Recovered:
      return fmt::format("{}: left by an interrupted run: {}", event.id,
                         json::text_of(event.data, "outcome"));
    case EventKind::ActionStarted:
      return json::number_of(event.data, "attempt", 1) > 1 ? ""
                                                           : fmt::format("{}: {} ...", event.id, event.verb);
    case EventKind::ActionFinished: {
      const double changes = json::number_of(event.data, "changes", -1);
      std::string what = event.verb == "run" && changes >= 0
                             ? fmt::format(", {:.0f} change{}", changes, changes == 1 ? "" : "s")
                             : "";
      return fmt::format("{}: {}done{} ({}{})", event.id, style_.green(), style_.off(),
                         duration_text(seconds), what);
    }
    case EventKind::ActionRetry:
      return fmt::format("{}; trying again in {}", of_item(event),
                         duration_text(json::number_of(event.data, "wait_seconds")));
    case EventKind::ActionFailed:
      return fmt::format("{}: {}failed{} after {}{}", event.id, style_.red(), style_.off(),
                         duration_text(seconds), alone_ ? ": " + event.message : "");
    case EventKind::ActionSkipped:
      return fmt::format("{}: skipped, {}", event.id, event.message);
    case EventKind::Task:
      return notice_text(event);
    case EventKind::Metric:
      return metric(event);
    case EventKind::Output:
      return output_text(event);
    case EventKind::Log:
      return event.message;
    case EventKind::Cancelled:
      return json::number_of(event.data, "level", 1) >= 2
                 ? "stopping now"
                 : "stopping after the current actions; press Ctrl-C again to stop now";
    case EventKind::Unowned:
      return fmt::format("{}: left alone: {}", event.id, event.message);
    case EventKind::Leftover:
      return fmt::format("{}: could not be removed: {}", event.id, event.message);
    default:
      return alone_ ? frame_of(event) : "";
  }
}

// A line every few seconds, and always for an evaluation, a lost peer or a note; never the same line again.
std::string EventLines::metric(const Event& event) {
  const std::string what = json::text_of(event.data, "event"), said = json::text_of(event.data, "peer"),
                    peer = said.empty() ? "?" : said;
  auto found = progress_.trainings().find(event.id);
  if (found == progress_.trainings().end()) return "";
  const TrainingProgress& training = found->second;
  if (what == "peer_lost") return fmt::format("{}: lost {}, continuing with the others", event.id, peer);
  if (what == "peer_joined" && training.started) return fmt::format("{}: {} has joined", event.id, peer);
  if (what == "chief")
    return fmt::format("{}: {} takes over as chief", event.id, json::text_of(event.data, "task"));
  if (what == "warning" || what == "strategy")
    return fmt::format("{}: {}", event.id, json::text_of(event.data, "message"));
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

// The begin and the end of a run, and what its report would tell.
std::string EventLines::frame_of(const Event& event) const {
  const Json& data = event.data;
  if (!data.is_object()) return "";
  auto count = [&](const char* name) {
    auto found = data.find(name);
    return found != data.end() && found->is_number_unsigned() ? found->get<unsigned long long>() : 0;
  };
  switch (event.kind) {
    case EventKind::RunStarted:
      return fmt::format("{} of {}: {} actions", json::text_of(data, "command"),
                         json::text_of(data, "infrastructure"), count("actions"));
    case EventKind::OutputValue:
      return fmt::format(
          "output {} = {}", event.id,
          json::flag_of(data, "sensitive") ? "(sensitive)" : render_value(json::member(data, "value")));
    case EventKind::RunFinished: {
      const bool ok = json::flag_of(data, "ok");
      return fmt::format("{}{}{} in {}: {} done, {} failed, {} skipped{}", ok ? style_.green() : style_.red(),
                         ok ? "done" : "failed", style_.off(),
                         duration_text(json::number_of(data, "seconds")), count("done"), count("failed"),
                         count("skipped"), event.message.empty() ? "" : "; " + event.message);
    }
    case EventKind::EventsLost:
      return fmt::format("events {} to {} are missing", count("from"), count("to"));
    default:
      return "";
  }
}

}  // namespace radl::cli
