#include "runtime/serve/run_log.h"

#include "common/json_values.h"
#include "runtime/base/world.h"
#include "runtime/run/event_log.h"

namespace radl::serve {
namespace {

// "worker[0]/tools" is on worker[0].
std::string node_of(const Event& event) {
  if (!event.node.empty()) return event.node;
  const std::string begin = event.id.substr(0, event.id.find('/'));
  return begin.ends_with(']') ? begin : std::string();
}

std::string line_of(const Event& event) {
  const std::string what = event.verb.empty() ? event.id : event.verb + " " + event.id;
  switch (event.kind) {
    case EventKind::RunStarted:
      return event.data.value("command", "run") + " begins";
    case EventKind::ActionStarted:
      return what;
    case EventKind::ActionFinished:
      return what + ": done";
    case EventKind::ActionFailed:
      return what + ": failed: " + event.message;
    case EventKind::ActionRetry:
      return what + ": tried again: " + event.message;
    case EventKind::ActionSkipped:
      return event.id + ": skipped: " + event.message;
    case EventKind::Task:
      return event.id + ": " + json::text_of(event.data, "name") +
             (json::flag_of(event.data, "notice") ? "" : ": " + json::text_of(event.data, "state"));
    case EventKind::Output:
    case EventKind::Log:
      return event.message;
    case EventKind::Leftover:
      return event.id + ": " + event.message;
    case EventKind::RunFinished:
      return event.data.value("ok", false) ? "done" : "failed: " + event.message;
    default:
      return {};
  }
}

}  // namespace

std::string run_log(const std::string& folder, const std::string& address) {
  std::string text;
  auto runs = kept_runs(folder);
  if (!runs.ok()) return text;
  for (const KeptRun& run : *runs) {
    auto reader = EventReader::open(run.path);
    if (!reader.ok()) continue;
    while (true) {
      auto event = (*reader)->next();
      if (!event.ok()) continue;  // a line that is no event
      if (!*event) break;
      if (node_of(**event) != address) continue;
      const std::string line = line_of(**event);
      if (!line.empty()) text += utc_time((*event)->time) + " " + line + "\n";
    }
  }
  return text;
}

}  // namespace radl::serve
