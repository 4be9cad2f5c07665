#include "runtime/farm/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "common/json_values.h"
#include "runtime/farm/images.h"

namespace radl::farm {
namespace {

constexpr std::array<std::string_view, 6> kStates = {"waiting", "running", "finished",
                                                     "stopped", "failed",  "cancelled"};
constexpr std::array<std::string_view, 6> kEnds = {"succeeded", "failed",  "preempted",
                                                   "lost",      "stopped", "cancelled"};

Status fenced(const TaskRecord& task, int attempt) {
  return {Code::Conflict, fmt::format("task {}: attempt {} is not its newest ({}), or has ended",
                                      task.task.name, attempt, task.attempt)};
}

}  // namespace

std::string_view state_name(State state) { return kStates[static_cast<size_t>(state)]; }
std::string_view end_name(End end) { return kEnds[static_cast<size_t>(end)]; }
bool is_over(State state) { return state != State::Waiting && state != State::Running; }

Json to_json(const Resources& resources) {
  Json json = Json::object();
  if (resources.cpu) json["cpu"] = resources.cpu;
  if (resources.memory) json["memory"] = resources.memory;
  if (resources.gpu) json["gpu"] = resources.gpu;
  if (resources.disk) json["disk"] = resources.disk;
  return json;
}

Resources resources_from(const Json& json) {
  auto number = [&](const char* name) { return static_cast<int64_t>(json::number_of(json, name)); };
  return {number("cpu"), number("memory"), number("gpu"), number("disk")};
}

size_t TaskNames::slot_of(std::string_view name, const std::vector<TaskRecord>& tasks) const {
  size_t slot = std::hash<std::string_view>()(name) & (slots_.size() - 1);
  while (slots_[slot] != 0 && tasks[slots_[slot] - 1].task.name != name)
    slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

std::optional<size_t> TaskNames::find(std::string_view name, const std::vector<TaskRecord>& tasks) const {
  const uint32_t place = slots_.empty() ? 0 : slots_[slot_of(name, tasks)];
  return place == 0 ? std::nullopt : std::optional<size_t>(place - 1);
}

void TaskNames::add_others(const std::vector<TaskRecord>& tasks) {
  slots_.assign(std::bit_ceil(std::max<size_t>(64, 2 * tasks.size())), 0);  // at most half full
  for (size_t i = 0; i + 1 < tasks.size(); ++i)
    slots_[slot_of(tasks[i].task.name, tasks)] = static_cast<uint32_t>(i + 1);
}

bool TaskNames::add_last(const std::vector<TaskRecord>& tasks) {
  if (slots_.size() < 2 * tasks.size()) add_others(tasks);
  uint32_t& slot = slots_[slot_of(tasks.back().task.name, tasks)];
  if (slot != 0) return false;
  slot = static_cast<uint32_t>(tasks.size());
  return true;
}

const TaskRecord* Table::find(const std::string& name) const {
  const auto found = names_.find(name, tasks_);
  return found ? &tasks_[*found] : nullptr;
}

bool Table::is_over() const { return count(State::Waiting) + count(State::Running) == 0; }

void Table::set(TaskRecord& task, State state) {
  --counts_[static_cast<size_t>(task.state)];
  ++counts_[static_cast<size_t>(state)];
  task.state = state;
}

Status Table::apply(const Event& event) {
  const std::string kind = json::text_of(event, "event");
  closed_ = kind == "closed";
  if (kind == "add") return add(event);
  if (approval_.apply(event)) return {};
  const std::string node = json::text_of(event, "node");
  if (kind == "node") {
    NodeRecord& record = nodes_[node];
    if (json::flag_of(event, "anew")) record = NodeRecord();
    record.registered = resources_from(json::member(event, "has"));
    record.machines.clear();
    for (const Json& machine : json::list_of(event, "machines"))
      record.machines.push_back(resources_from(machine));
    record.gone = false;
    return {};
  }
  if (kind == "gone") {
    nodes_[node].gone = true;
    return {};
  }
  if (kind == "quarantine") return quarantine(event);
  if (kind == "trials") {
    if (!settings_.contains("trials")) return invalid("the farm has no search, so it has no trials");
    settings_["trials"] = json::number_of(settings_, "trials") + json::number_of(event, "more");
    return {};
  }
  if (kind == "farm") {
    settings_ = event;
    rules_.tries = static_cast<int>(json::number_of(event, "tries", rules_.tries));
    for (TaskRecord& task : tasks_) task.lost = 0;
    return {};
  }
  const auto found = names_.find(json::text_of(event, "task"), tasks_);
  if (!found)
    return invalid(fmt::format("event '{}' names the task '{}', which was never added", kind,
                               json::text_of(event, "task")));
  return of_task(event, kind, tasks_[*found]);
}

Status Table::add(const Event& event) {
  TaskRecord record;
  record.task.name = json::text_of(event, "task");
  record.task.needs = resources_from(json::member(event, "needs"));
  record.task.seconds = json::number_of(event, "seconds");
  record.task.spec = json::member(event, "spec");
  if (record.task.name.empty()) return invalid("a task needs a name");
  tasks_.push_back(std::move(record));
  if (!names_.add_last(tasks_)) {
    Status exists(Code::Exists, fmt::format("task {} exists already", tasks_.back().task.name));
    tasks_.pop_back();
    return exists;
  }
  ++counts_[static_cast<size_t>(State::Waiting)];
  return {};
}

Status Table::of_task(const Event& event, const std::string& kind, TaskRecord& task) {
  const int attempt = static_cast<int>(json::number_of(event, "attempt"));
  if (kind == "start") return start(event, task);
  if (kind == "cancel") {
    if (farm::is_over(task.state)) return fenced(task, attempt);
    task.removed = json::flag_of(event, "removed");
    if (task.state == State::Waiting)
      set(task, State::Cancelled);
    else
      task.cancelling = true;
    return {};
  }
  if (kind == "retry") {
    if (task.state == State::Running && task.cancelling) {  // it has not ended yet
      task.cancelling = task.removed = false;
      return {};
    }
    if (task.state != State::Failed && task.state != State::Cancelled) return fenced(task, attempt);
    again(task);
    return {};
  }
  if (kind == "change") {
    change(event, task);
    return {};
  }
  if (kind == "set_aside") {
    if (task.state != State::Waiting) return fenced(task, attempt);
    task.status = -1;
    task.reason = json::text_of(event, "reason");
    set(task, State::Failed);
    return {};
  }
  if (attempt != task.attempt || task.state != State::Running) return fenced(task, attempt);
  if (kind == "end") return end(event, task);
  if (kind == "stop") {
    task.stopping = true;
    return {};
  }
  if (kind == "queued") {
    task.queued = json::text_of(event, "reason");
    return {};
  }
  if (kind == "runs") {
    task.queued.clear();
    task.machine = json::text_of(event, "machine");
    task.started = std::max(task.started, json::number_of(event, "at"));
    return {};
  }
  if (kind == "metric") {
    const int report = static_cast<int>(json::number_of(event, "report"));
    if (report <= task.reports) return fenced(task, attempt);  // told twice
    task.reports = report;
    task.metrics.update(json::member(event, "values"));
    return {};
  }
  if (kind == "commit") {
    if (!task.uncommitted) return fenced(task, attempt);
    task.uncommitted = false;
    const Json& results = json::member(event, "results");
    task.results = results.is_boolean() ? std::optional<bool>(results.get<bool>()) : std::nullopt;
    task.left.clear();
    for (const Json& link : json::list_of(event, "left"))
      if (link.is_string()) task.left.push_back(link.get<std::string>());
    set(task, task.stopping && task.status != 0 ? State::Stopped : State::Finished);
    return {};
  }
  return invalid(fmt::format("unknown event '{}'", kind));
}

// As if it had never run, but for the number of its attempts.
void Table::again(TaskRecord& task) {
  task.failed_on.clear();
  task.failed_machines.clear();
  task.lost = 0;
  task.uncommitted = task.stopping = task.cancelling = task.removed = false;
  set(task, State::Waiting);
}

void Table::change(const Event& event, TaskRecord& task) {
  task.task.needs = resources_from(json::member(event, "needs"));
  task.task.seconds = json::number_of(event, "seconds");
  const Spec spec = json::member(event, "spec");
  if (spec == task.task.spec) return;
  task.task.spec = spec;
  task.reports = 0;
  task.metrics = nullptr;
  task.reason.clear();
  task.status = 0;
  again(task);
}

Status Table::start(const Event& event, TaskRecord& task) {
  const int attempt = static_cast<int>(json::number_of(event, "attempt"));
  if (task.state != State::Waiting || attempt != task.attempt + 1) return fenced(task, attempt);
  task.attempt = attempt;
  task.node = json::text_of(event, "node");
  task.started = json::number_of(event, "at");
  task.devices.clear();
  for (const Json& device : json::list_of(event, "devices"))
    if (device.is_number_integer()) task.devices.push_back(device.get<int>());
  task.uncommitted = task.stopping = task.cancelling = false;
  task.queued.clear();
  task.machine.clear();
  task.reports = 0;
  task.metrics = nullptr;
  task.reason.clear();
  set(task, State::Running);
  return {};
}

Status Table::end(const Event& event, TaskRecord& task) {
  const std::string how = json::text_of(event, "how");
  task.queued.clear();
  // Its output may be lost with its node before it is brought, or it cannot be brought at all.
  const bool unbrought = task.uncommitted;
  if (unbrought && how != end_name(End::Lost) && how != end_name(End::Failed))
    return fenced(task, task.attempt);
  task.uncommitted = false;
  if (how != end_name(End::Lost)) task.lost = 0;
  task.ended = json::number_of(event, "at");
  task.status = static_cast<int>(json::number_of(event, "status"));
  task.reason = json::text_of(event, "reason");
  NodeRecord& node = nodes_[task.node];
  if (task.cancelling || how == end_name(End::Cancelled)) {
    set(task, State::Cancelled);
  } else if (how == end_name(End::Succeeded)) {
    node.failures.clear();
    ++node.succeeded;
    task.uncommitted = true;
  } else if (how == end_name(End::Stopped) || (task.stopping && !unbrought && how == end_name(End::Failed))) {
    task.stopping = task.uncommitted = true;  // what it has written until then is its output
    if (task.status == 0) task.status = 1;    // "stopped" even if it took the signal well
  } else if (how == end_name(End::Failed)) {
    task.failed_on.push_back(task.node);
    if (!task.machine.empty()) task.failed_machines.push_back(task.machine);
    node.failures.push_back(task.task.name);
    ++node.failed;
    used_up(task);
  } else {
    ++task.preemptions;
    task.stopping = false;
    if (how == end_name(End::Lost)) ++task.lost;
    if (task.lost >= rules_.lost)
      task.reason =
          fmt::format("lost {} times in a row, the last time on {}: {}", task.lost, task.node, task.reason);
    set(task, task.lost >= rules_.lost ? State::Failed : State::Waiting);
  }
  return {};
}

void Table::used_up(TaskRecord& task) {
  set(task, static_cast<int>(task.failed_on.size()) >= rules_.tries ? State::Failed : State::Waiting);
}

std::string Table::black_hole() const {
  auto bad = [&](const NodeRecord& node) {
    const std::set<std::string> different(node.failures.begin(), node.failures.end());
    return static_cast<int>(different.size()) >= rules_.black_hole;
  };
  auto serves = [&](const NodeRecord& node) { return !node.gone && !node.quarantined; };
  // If the other nodes fail often too, the tasks are to blame.
  int succeeded = 0, failed = 0;
  for (const auto& [name, node] : nodes_) {
    if (bad(node)) continue;
    succeeded += node.succeeded;
    failed += node.failed;
  }
  const bool others = std::any_of(nodes_.begin(), nodes_.end(),
                                  [&](const auto& each) { return serves(each.second) && !bad(each.second); });
  if (!others || succeeded == 0 || failed * 4 > succeeded) return "";
  for (const auto& [name, node] : nodes_) {
    if (serves(node) && bad(node)) return name;
  }
  return "";
}

// What failed there was the node's fault: it uses up no try.
Status Table::quarantine(const Event& event) {
  const std::string name = json::text_of(event, "node");
  auto found = nodes_.find(name);
  if (found == nodes_.end()) return invalid(fmt::format("'{}' is not a node of the farm", name));
  found->second.quarantined = true;
  for (TaskRecord& task : tasks_) {
    if (std::erase(task.failed_on, name) > 0 && task.state == State::Failed) set(task, State::Waiting);
  }
  return {};
}

namespace {

// What a run has added to the spec (images.h) is not of the file; the plan does not know it.
bool has_other_spec(const Spec& before, const Spec& now) {
  if (!before.contains(kListed) || now.contains(kListed)) return !(before == now);
  Json of_file = before.json();
  of_file.erase(kListed);
  return of_file != now.json();
}

}  // namespace

std::vector<Event> changes_of_file(const std::vector<Task>& tasks, const Table& table, bool closed,
                                   double at) {
  std::vector<Event> events;
  std::set<std::string> known;
  for (const Task& task : tasks) {
    known.insert(task.name);
    const TaskRecord* before = table.find(task.name);
    if (before == nullptr) {
      events.push_back(add_event(task, at));
      continue;
    }
    if (has_other_spec(before->task.spec, task.spec) || before->task.needs != task.needs ||
        before->task.seconds != task.seconds)
      events.push_back(change_event(task, at));
    // The file has it again.
    if (before->removed && (before->state == State::Cancelled || before->cancelling))
      events.push_back(retry_event(task.name, at));
  }
  for (const TaskRecord& task : table.tasks()) {
    const bool added = json::flag_of(task.task.spec, "added") || task.task.spec.contains("parameters");
    if (!added && !known.contains(task.task.name)) events.push_back(cancel_event(task.task.name, at, true));
    if (closed && task.state == State::Failed) events.push_back(retry_event(task.task.name, at));
  }
  return events;
}

Json Table::to_json() const {
  Json all = Json::array();
  for (const TaskRecord& task : tasks_) {
    Json one = {
        {"task", task.task.name}, {"state", state_name(task.state)},         {"attempt", task.attempt},
        {"node", task.node},      {"needs", farm::to_json(task.task.needs)}, {"spec", task.task.spec}};
    if (!task.failed_on.empty()) one["failed_on"] = task.failed_on;
    if (task.preemptions > 0) one["preemptions"] = task.preemptions;
    if (!task.metrics.empty()) one["metrics"] = task.metrics;
    if (!task.reason.empty()) one["reason"] = task.reason;
    if (!task.queued.empty()) one["queued"] = task.queued;
    if (!task.machine.empty()) one["machine"] = task.machine;
    if (!task.left.empty()) one["left"] = task.left;
    if (task.ended > 0) one["seconds"] = task.ended - task.started;
    if (task.status != 0) one["status"] = task.status;
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace radl::farm
