// The events of a run. One stream feeds the progress display, --log-json and the
// reports.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "runtime/base/redact.h"

namespace radl {

enum class EventKind {
  RunStarted,      // data: {command, infrastructure, actions, plan: totals}
  Recovered,       // an intent of an earlier run was looked up; id; data: {outcome:
                   // adopted|removed|repeated|closed}
  ActionStarted,   // id, verb; data: {attempt}
  NodePhase,       // id; data: {phase: creating|waiting|reachable|destroying}
  Task,            // id (step), node; data from the runner: {name, state, ...}
  Output,          // id (step), node; message: a line of a step's output
  Metric,          // id (training), node; data: as written by the engine
  Log,             // id may be empty; message: a line of a provider
  ActionRetry,     // id; message: the error; data: {attempt, wait_seconds, code}
  ActionFinished,  // id, verb; data: {seconds, changes}
  ActionFailed,    // id, verb; message; data: {seconds, code, log}
  ActionSkipped,   // id; message: why ("worker[0] failed", "cancelled")
  Cancelled,       // data: {level}
  Leftover,        // id: resource that could not be removed; message
  Unowned,      // id: what carries the infrastructure's tag and was left alone; message: why; data: {cloud,
                // type, address}
  OutputValue,  // id: name; data: {value, sensitive}
  RunFinished,  // data: {ok, code, seconds, done, failed, skipped}; message: why not ok
  EventsLost,   // a listener was too slow for them; data: {from, to}: sequence numbers
};
std::string_view event_kind_name(EventKind kind);  // "action_started", ...
std::optional<EventKind> event_kind_of(std::string_view name);

struct Event {
  EventKind kind = EventKind::Log;
  // The run of radlc, and the event's number in it, from 1. 0 and "" if events are not numbered
  // (runtime/run).
  std::string run;
  unsigned long long sequence = 0;
  double time = 0;  // wall seconds; set by the stream
  std::string id;
  std::string node;
  std::string verb;
  std::string message;
  nlohmann::json data;
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void emit(const Event& event) = 0;  // calls do not overlap; the event is redacted
};

// {"run":..,"sequence":12,"event":"action_started","time":...,"id":"worker[0]",...}; omits empty
// fields.
nlohmann::json to_json(const Event& event);
// Invalid: not such an object.
Result<Event> event_from_json(const nlohmann::json& json);

// Appends a line per event to a file, each with one write(2). Stores write errors instead of throwing.
class JsonLinesSink : public EventSink {
 public:
  // Exists: the file contains something other than events.
  static Status may_append(const std::string& path);
  // Errors: those of may_append(), and failures to open the file.
  static Result<std::unique_ptr<JsonLinesSink>> open(const std::string& path);
  explicit JsonLinesSink(int fd, bool owned);
  ~JsonLinesSink() override;
  JsonLinesSink(const JsonLinesSink&) = delete;
  JsonLinesSink& operator=(const JsonLinesSink&) = delete;
  void emit(const Event& event) override;
  const Status& status() const { return status_; }

 private:
  int fd_;
  bool owned_;
  Status status_;
};

}  // namespace radl
