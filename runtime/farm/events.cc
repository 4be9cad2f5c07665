// The events of a farm (table.h).
#include "runtime/farm/table.h"

namespace radl::farm {
namespace {

Event event_of(const char* kind, double at) { return {{"event", kind}, {"at", at}}; }

}  // namespace

Event farm_event(Json settings, double at) {
  settings["event"] = "farm";
  settings["at"] = at;
  return settings;
}

Event add_event(const Task& task, double at) {
  Event event = event_of("add", at);
  event["task"] = task.name;
  event["needs"] = to_json(task.needs);
  if (task.seconds > 0) event["seconds"] = task.seconds;
  event["spec"] = task.spec;
  return event;
}

Event node_event(const std::string& node, const Resources& registered, double at, bool anew) {
  Event event = event_of("node", at);
  event["node"] = node;
  event["has"] = to_json(registered);
  if (anew) event["anew"] = true;
  return event;
}

Event cluster_event(const std::string& node, const Resources& registered,
                    const std::vector<Resources>& machines, double at) {
  Event event = node_event(node, registered, at);
  event["machines"] = Json::array();
  for (const Resources& machine : machines) event["machines"].push_back(to_json(machine));
  return event;
}

Event gone_event(const std::string& node, const std::string& why, double at) {
  Event event = event_of("gone", at);
  event["node"] = node;
  event["reason"] = why;
  return event;
}

namespace {

Event task_event(const char* kind, const std::string& task, int attempt, double at) {
  Event event = event_of(kind, at);
  event["task"] = task;
  if (attempt > 0) event["attempt"] = attempt;
  return event;
}

}  // namespace

Event start_event(const std::string& task, int attempt, const std::string& node, double at,
                  const std::vector<int>& devices) {
  Event event = task_event("start", task, attempt, at);
  event["node"] = node;
  if (!devices.empty()) event["devices"] = devices;
  return event;
}

Event end_event(const std::string& task, int attempt, End end, int status, const std::string& reason,
                double at) {
  Event event = task_event("end", task, attempt, at);
  event["how"] = end_name(end);
  event["status"] = status;
  if (!reason.empty()) event["reason"] = reason;
  return event;
}

Event queued_event(const std::string& task, int attempt, const std::string& why, double at) {
  Event event = task_event("queued", task, attempt, at);
  event["reason"] = why;
  return event;
}

Event runs_event(const std::string& task, int attempt, const std::string& machine, double at) {
  Event event = task_event("runs", task, attempt, at);
  event["machine"] = machine;
  return event;
}

Event commit_event(const std::string& task, int attempt, double at, bool results,
                   const std::vector<std::string>& left) {
  Event event = task_event("commit", task, attempt, at);
  event["results"] = results;
  if (!left.empty()) event["left"] = left;
  return event;
}

Event change_event(const Task& task, double at) {
  Event event = add_event(task, at);
  event["event"] = "change";
  return event;
}

Event set_aside_event(const std::string& task, const std::string& why, double at) {
  Event event = task_event("set_aside", task, 0, at);
  event["reason"] = why;
  return event;
}

Event metric_event(const std::string& task, int attempt, int report, const Json& values, double at) {
  Event event = task_event("metric", task, attempt, at);
  event["report"] = report;
  event["values"] = values;
  return event;
}

Event stop_event(const std::string& task, int attempt, double at) {
  return task_event("stop", task, attempt, at);
}
Event cancel_event(const std::string& task, double at, bool removed) {
  Event event = task_event("cancel", task, 0, at);
  if (removed) event["removed"] = true;
  return event;
}
Event retry_event(const std::string& task, double at) { return task_event("retry", task, 0, at); }

Event quarantine_event(const std::string& node, const std::string& why, double at) {
  Event event = event_of("quarantine", at);
  event["node"] = node;
  event["reason"] = why;
  return event;
}

Event trials_event(size_t more, double at) {
  Event event = event_of("trials", at);
  event["more"] = more;
  return event;
}

Event approve_event(Json terms, double at) {
  terms["event"] = "approve";
  terms["at"] = at;
  return terms;
}

Event began_event(double at, size_t nodes) {
  Event event = event_of("began", at);
  event["nodes"] = nodes;
  return event;
}

Event nodes_event(size_t nodes, double at) {
  Event event = event_of("nodes", at);
  event["nodes"] = nodes;
  return event;
}

Event limit_event(size_t nodes, double at) {
  Event event = event_of("limit", at);
  event["nodes"] = nodes;
  return event;
}

Event closed_event(double at) { return event_of("closed", at); }

Event pause_event(double seconds, const std::string& why, double at) {
  Event event = event_of("pause", at);
  event["seconds"] = seconds;
  event["reason"] = why;
  return event;
}

}  // namespace radl::farm
