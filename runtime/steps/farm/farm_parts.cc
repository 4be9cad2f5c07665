#include "runtime/steps/farm/farm_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "common/json_values.h"
#include "runtime/net/node_path.h"

namespace radl::farm {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Json without_farm(Json program) {
  program.erase("farm");
  return program;
}

Json settings_event(const Json& program, const FarmSettings& settings, const std::optional<Search>& search,
                    const std::string& journal) {
  Json event = {
      {"name", program.value("name", "")}, {"tries", settings.policy.rules.tries}, {"journal", journal}};
  if (search) {
    event["metric"] = search->settings().metric;
    event["goal"] = search->settings().maximize ? "max" : "min";
    event["trials"] = search->settings().trials;  // with those that were added
    if (search->settings().strategy == Strategy::Pbt) event["population"] = search->settings().population;
  }
  if (!settings.merge.empty()) event["merge"] = settings.merge;
  return event;
}

std::string run_of(Json program, const std::string& journal) {
  for (const char* key :
       {"members", "results", "retries", "lost", "least", "workers", "grace_seconds", "timeout_seconds",
        "stop_signal", "collect", "needs", "outputs", "may_fail", "ends"})
    program.erase(key);
  if (program.contains("python"))
    for (const char* place : {"requirements", "wheelhouse"}) program["python"].erase(place);
  if (program.contains("source") && program["source"].contains("sha256")) program["source"].erase("path");
  if (program.contains("inputs"))
    for (Json& input : program["inputs"]) input.erase("path");
  return sha256_hex(program.dump() + "\n" + journal);
}

NoticeSpec notices_of(const NodeHandle& node) {
  const auto declared = node.attributes.find("eviction_notice");
  return declared == node.attributes.end() ? NoticeSpec() : notice_spec_in(*declared);
}

Json numbers_of(const std::string& text) {
  Json numbers = Json::object();
  const Json values = json::parse_json(text);
  if (!values.is_object()) return numbers;
  for (const auto& [name, value] : values.items())
    if (value.is_number() && std::isfinite(value.get<double>())) numbers[name] = value;
  return numbers;
}

Result<std::optional<Task>> next_trial(const Search& search, const Farm& farm, const Resources& needs) {
  const bool room = std::any_of(farm.hosts().begin(), farm.hosts().end(),
                                [&](const Host& host) { return host.open && needs.fits(host.remaining); });
  if (!room || !search.has_next(farm.table())) return std::optional<Task>();
  auto next = search.next(farm.table());
  if (!next) return std::move(next).status();
  Task task{search.next_name(), needs, 0, {{"parameters", next->parameters}}};
  if (!next->parent.empty()) task.spec.set("from", next->parent);
  return std::optional<Task>(std::move(task));
}

std::vector<TaskRecord> running_tasks(const Table& table) {
  std::vector<TaskRecord> running;
  for (const TaskRecord& task : table.tasks())
    if (task.state == State::Running && !task.uncommitted) running.push_back(task);
  return running;
}

std::vector<Event> set_aside_events(const Farm& farm, double now) {
  std::vector<Event> events;
  for (const TaskRecord& task : farm.table().tasks())
    if (task.state == State::Waiting && farm.fits_nowhere(task.task.needs))
      events.push_back(set_aside_event(task.task.name, farm.why_waiting(task), now));
  return events;
}

void Timers::add(const std::string& id, size_t node, std::chrono::milliseconds after) {
  all_[id] = {node, std::chrono::steady_clock::now() + after};
}

std::vector<std::pair<std::string, size_t>> Timers::due() {
  std::vector<std::pair<std::string, size_t>> due;
  for (const auto& [id, timer] : all_)
    if (std::chrono::steady_clock::now() >= timer.second) due.emplace_back(id, timer.first);
  for (const auto& [id, node] : due) all_.erase(id);
  return due;
}

Result<jobs::Fetched> bring_output(jobs::Member& member, const std::string& id, const std::string& to) {
  std::error_code error;
  std::filesystem::remove_all(to, error);
  if (Status made = make_directories(to, 0700); !made.ok()) return made;
  const std::string from = fmt::format("farm/{}/results", id);
  jobs::Beforehand first;
  first.script = fmt::format("[ -d {} ] || {{ echo 'the node no longer has it' >&2; exit 1; }}",
                             shell_path(member.folder() + "/" + from));
  return member.fetch(
      from, to, [](const std::vector<jobs::Arrival>&) { return Status(); }, first);
}

std::string progress_text(const Table& table, size_t trials) {
  std::string text = fmt::format("{} of {} tasks done, {} running", table.done(),
                                 std::max(trials, table.tasks().size()), table.count(State::Running));
  if (table.count(State::Failed) > 0) text += fmt::format(", {} failed", table.count(State::Failed));
  return text;
}

Status failures_of(const Table& table, const Json& program) {
  constexpr size_t kShown = 3;
  const size_t count = table.count(State::Failed);
  if (count == 0 || program.value("may_fail", false)) return {};
  std::string text = fmt::format("{} of {} tasks failed; the others' outputs are in {}", count,
                                 table.tasks().size(), program.at("results").get<std::string>());
  size_t shown = 0;
  for (const TaskRecord& task : table.tasks()) {
    if (task.state != State::Failed || ++shown > kShown) continue;
    text += task.status < 0 ? fmt::format("\n{}: {}", task.task.name, task.reason)
                            : fmt::format("\n{}: exit status {} on {}\n{}", task.task.name, task.status,
                                          task.node, task.reason);
  }
  return invalid(text).with_hint("apply again to retry them");
}

}  // namespace radl::farm
