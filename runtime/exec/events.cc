#include "runtime/exec/events.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "common/files.h"
#include "runtime/exec/event_stream.h"

namespace radl {

std::string_view event_kind_name(EventKind kind) {
  switch (kind) {
    case EventKind::RunStarted:
      return "run_started";
    case EventKind::Recovered:
      return "recovered";
    case EventKind::ActionStarted:
      return "action_started";
    case EventKind::NodePhase:
      return "node_phase";
    case EventKind::Task:
      return "task";
    case EventKind::Output:
      return "output";
    case EventKind::Metric:
      return "metric";
    case EventKind::Log:
      return "log";
    case EventKind::ActionRetry:
      return "action_retry";
    case EventKind::ActionFinished:
      return "action_finished";
    case EventKind::ActionFailed:
      return "action_failed";
    case EventKind::ActionSkipped:
      return "action_skipped";
    case EventKind::Cancelled:
      return "cancelled";
    case EventKind::Leftover:
      return "leftover";
    case EventKind::OutputValue:
      return "output_value";
    case EventKind::RunFinished:
      return "run_finished";
  }
  return "unknown";
}

nlohmann::json to_json(const Event& event) {
  nlohmann::json json = {{"event", event_kind_name(event.kind)}, {"time", event.time}};
  if (!event.id.empty()) json["id"] = event.id;
  if (!event.node.empty()) json["node"] = event.node;
  if (!event.verb.empty()) json["verb"] = event.verb;
  if (!event.message.empty()) json["message"] = event.message;
  if (!event.data.is_null()) json["data"] = event.data;
  return json;
}

void EventStream::emit(Event event) {
  event.message = redactor_.mask(event.message);
  if (!event.data.is_null()) event.data = redactor_.mask_json(event.data);
  std::lock_guard guard(mutex_);
  event.time = clock_.wall_seconds();
  for (EventSink* sink : sinks_) sink->emit(event);
}

Status EventStream::mask(const Status& status) const {
  if (status.ok()) return status;
  return Status(status.code(), redactor_.mask(status.message())).with_hint(redactor_.mask(status.hint()));
}

Result<std::unique_ptr<JsonLinesSink>> JsonLinesSink::open(const std::string& path) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return errno_status(errno, path);
  return std::make_unique<JsonLinesSink>(fd, true);
}

JsonLinesSink::JsonLinesSink(int fd, bool owned) : fd_(fd), owned_(owned) {}

JsonLinesSink::~JsonLinesSink() {
  if (owned_) ::close(fd_);
}

void JsonLinesSink::emit(const Event& event) {
  std::string line = to_json(event).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  Status written = write_all(fd_, line, "an event could not be written");
  if (status_.ok()) status_ = std::move(written);
}

}  // namespace radl
