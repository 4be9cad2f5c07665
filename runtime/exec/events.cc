#include "runtime/exec/events.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "common/files.h"
#include "common/output_file.h"
#include "runtime/exec/event_stream.h"

namespace radl {

namespace {

constexpr std::array<std::pair<EventKind, std::string_view>, 18> kNames{{
    {EventKind::RunStarted, "run_started"},
    {EventKind::Recovered, "recovered"},
    {EventKind::ActionStarted, "action_started"},
    {EventKind::NodePhase, "node_phase"},
    {EventKind::Task, "task"},
    {EventKind::Output, "output"},
    {EventKind::Metric, "metric"},
    {EventKind::Log, "log"},
    {EventKind::ActionRetry, "action_retry"},
    {EventKind::ActionFinished, "action_finished"},
    {EventKind::ActionFailed, "action_failed"},
    {EventKind::ActionSkipped, "action_skipped"},
    {EventKind::Cancelled, "cancelled"},
    {EventKind::Leftover, "leftover"},
    {EventKind::Unowned, "unowned"},
    {EventKind::OutputValue, "output_value"},
    {EventKind::RunFinished, "run_finished"},
    {EventKind::EventsLost, "events_lost"},
}};

std::string text_at(const nlohmann::json& json, const char* key) {
  auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// Whether the first line is an event.
bool holds_events(std::string_view text) {
  return event_from_json(nlohmann::json::parse(text.substr(0, text.find('\n')), nullptr, false)).ok();
}

}  // namespace

std::string_view event_kind_name(EventKind kind) {
  for (const auto& [each, name] : kNames) {
    if (each == kind) return name;
  }
  return "unknown";
}

std::optional<EventKind> event_kind_of(std::string_view name) {
  for (const auto& [kind, each] : kNames) {
    if (each == name) return kind;
  }
  return std::nullopt;
}

Result<Event> event_from_json(const nlohmann::json& json) {
  if (!json.is_object()) return invalid("no event: not an object");
  std::optional<EventKind> kind = event_kind_of(text_at(json, "event"));
  if (!kind) return invalid("no event that this radlc knows: '" + text_at(json, "event") + "'");
  Event event;
  event.kind = *kind;
  event.run = text_at(json, "run");
  if (auto found = json.find("sequence"); found != json.end() && found->is_number_unsigned())
    event.sequence = found->get<unsigned long long>();
  if (auto found = json.find("time"); found != json.end() && found->is_number())
    event.time = found->get<double>();
  event.id = text_at(json, "id");
  event.node = text_at(json, "node");
  event.verb = text_at(json, "verb");
  event.message = text_at(json, "message");
  if (auto found = json.find("data"); found != json.end()) event.data = *found;
  return event;
}

nlohmann::json to_json(const Event& event) {
  nlohmann::json json = {{"event", event_kind_name(event.kind)}, {"time", event.time}};
  if (event.sequence > 0) {
    json["run"] = event.run;
    json["sequence"] = event.sequence;
  }
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

Status JsonLinesSink::may_append(const std::string& path) {
  Status may = may_write_output(path, "", {.ours = holds_events});
  return may.ok() ? may
                  : std::move(may).with_hint("events are added to a file of events only: name another file");
}

Result<std::unique_ptr<JsonLinesSink>> JsonLinesSink::open(const std::string& path) {
  if (Status may = may_append(path); !may.ok()) return may;
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
