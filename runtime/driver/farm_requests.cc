// Requests to a farm, whether a run works on it or not (runtime/driver/farms.h).
#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "common/human.h"
#include "common/json_values.h"
#include "common/turn.h"
#include "runtime/driver/farms.h"
#include "runtime/farm/journal.h"
#include "runtime/farm/search.h"
#include "runtime/farm/settings.h"
#include "runtime/steps/farm/farm_run.h"
#include "runtime/steps/farm/inbox.h"

namespace radl::driver {
namespace {

using farm::Event;
using farm::Farm;

// The journal takes the requests, unless a run works on the farm: then that takes them.
Status take_requests(const KnownFarm& known) {
  farm::Journal journal;
  Farm farm;
  Status opened =
      journal.open(known.folder + farm::kJournalFile, [&](const Event& event) { return farm.apply(event); });
  if (opened.code() == Code::Conflict) return {};
  if (!opened.ok()) return opened;
  const std::vector<farm::Request> requests = farm::read_inbox(known.folder + farm::kInboxFolder);
  for (const farm::Request& request : requests)
    if (!request.event.is_null() && farm.apply(request.event).ok()) journal.add(request.event);
  if (Status kept = journal.flush(); !kept.ok()) return kept;
  std::error_code error;
  for (const farm::Request& request : requests) std::filesystem::remove(request.path, error);
  return {};
}

// Requests are safe before anybody takes them: a run may end, or begin, at any moment.
Status request(const KnownFarm& known, const std::vector<Event>& events) {
  const auto base = std::chrono::system_clock::now().time_since_epoch();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(base).count();
  for (size_t i = 0; i < events.size(); ++i) {
    Status put = farm::put_in_inbox(known.folder + farm::kInboxFolder, events[i],
                                    fmt::format("{:020}-{:06}", micros, i));
    if (!put.ok()) return put;
  }
  return take_requests(known);
}

Status change_tasks(const KnownFarm& known, const std::vector<std::string>& tasks, double now, bool retry) {
  std::vector<Event> events;
  Farm trial = known.farm;
  for (const std::string& name : tasks) {
    const farm::TaskRecord* task = trial.table().find(name);
    if (task == nullptr) return not_found("no task '" + name + "' in " + known.name());
    const std::string_view state = farm::state_name(task->state);
    events.push_back(retry ? farm::retry_event(name, now) : farm::cancel_event(name, now));
    if (!trial.apply(events.back()).ok())
      return invalid(
          fmt::format("task {} is {}: it cannot be {}", name, state, retry ? "retried" : "cancelled"));
  }
  return request(known, events);
}

std::string free_name(const farm::Table& table) {
  for (size_t i = 0;; ++i) {
    std::string name = fmt::format("added-{}", i);
    if (table.find(name) == nullptr) return name;
  }
}

Result<farm::Task> task_of(const FarmAddition& added, const farm::Table& table) {
  Json one = {{"name", added.name.empty() ? free_name(table) : added.name},
              {"command", added.command},
              {"needs", {{"cpu", added.cpu}, {"memory", added.memory}, {"gpu", added.gpu}}}};
  if (added.seconds > 0) one["seconds"] = added.seconds;
  auto made =
      farm::parse_farm(Json({{"tasks", {one}}, {"merge", json::text_of(table.settings(), "merge")}}).dump());
  if (!made) return std::move(made).status();
  farm::Task task = std::move(made->tasks[0]);
  if (table.settings().contains("trials") && task.name.starts_with(farm::kTrialPrefix))
    return invalid(fmt::format("a task cannot be called '{}': the search's trials are called {}0, {}1, ..",
                               task.name, farm::kTrialPrefix, farm::kTrialPrefix));
  task.spec.set("added", true);  // it stays though the file does not have it
  return task;
}

}  // namespace

Status retry_tasks(const KnownFarm& known, const std::vector<std::string>& tasks, double now) {
  return change_tasks(known, tasks, now, true);
}

Status cancel_tasks(const KnownFarm& known, const std::vector<std::string>& tasks, double now) {
  return change_tasks(known, tasks, now, false);
}

Result<std::string> add_to_farm(const KnownFarm& known, const FarmAddition& added, double now) {
  // The next free name is another one for each that adds a task, also while a run has yet to take the tasks.
  auto turn = FileTurn::take(known.folder + "/add.lock", Stop());
  if (!turn) return turn.status();
  const std::vector<farm::Request> waiting = farm::read_inbox(known.folder + farm::kInboxFolder);
  // What is not in the inbox any more is in the journal.
  auto current = read_farm(known.folder);
  if (!current) return std::move(current).status();
  for (const farm::Request& request : waiting)
    if (!request.event.is_null()) (void)current->farm.apply(request.event);
  Event event = farm::trials_event(added.trials, now);
  std::string what = counted(added.trials, "trial");
  if (added.trials == 0) {
    auto task = task_of(added, current->farm.table());
    if (!task) return task.status();
    event = farm::add_event(*task, now);
    what = "task " + task->name;
  }
  if (Status taken = current->farm.apply(event); !taken.ok()) return taken;
  if (Status asked = request(*current, {event}); !asked.ok()) return asked;
  return what;
}

}  // namespace radl::driver
