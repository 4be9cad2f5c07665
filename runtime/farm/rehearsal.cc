#include "runtime/farm/rehearsal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>

namespace radl::farm {
namespace {

std::vector<Task> all_tasks(const FarmSettings& settings) {
  std::vector<Task> tasks = settings.tasks;
  for (size_t i = 0; settings.search && i < settings.search->trials; ++i)
    tasks.push_back({fmt::format("trial {}", i), settings.trial_needs, 0, Json::object()});
  return tasks;
}

struct Ahead {
  double at;
  std::string task, node;
  bool operator>(const Ahead& other) const { return at > other.at; }
};

}  // namespace

Rehearsal rehearse(const FarmSettings& settings, const std::vector<Resources>& nodes) {
  const std::vector<Task> tasks = all_tasks(settings);
  Rehearsal made;
  made.tasks = tasks.size();
  made.known =
      !tasks.empty() && std::all_of(tasks.begin(), tasks.end(), [](const Task& t) { return t.seconds > 0; });
  Farm farm(settings.policy);
  double sum = 0;
  for (size_t i = 0; i < nodes.size(); ++i)
    (void)farm.apply(node_event(fmt::format("{:06}", i), nodes[i], 0));
  std::map<std::string, double> lengths;
  for (Task task : tasks) {
    if (!made.known) task.seconds = 1;
    lengths[task.name] = task.seconds;
    sum += task.seconds;
    (void)farm.apply(add_event(task, 0));
  }
  std::priority_queue<Ahead, std::vector<Ahead>, std::greater<>> ends;
  std::map<std::string, size_t> running;  // by node
  double now = 0;
  for (;;) {
    for (const Event& event : farm.next(now)) {
      if (event["event"] != "start" || !farm.apply(event).ok()) continue;
      ends.push(
          {now + lengths[event["task"]], event["task"].get<std::string>(), event["node"].get<std::string>()});
      ++running[event["node"]];
    }
    made.at_once = std::max(made.at_once, ends.size());
    if (ends.empty()) break;
    const Ahead end = ends.top();
    ends.pop();
    const auto busy =
        std::count_if(running.begin(), running.end(), [](const auto& each) { return each.second > 0; });
    made.node_seconds += static_cast<double>(busy) * (end.at - now);
    now = end.at;
    --running[end.node];
    (void)farm.apply(end_event(end.task, 1, End::Succeeded, 0, "", now));
    (void)farm.apply(commit_event(end.task, 1, now));
  }
  made.seconds = now;
  if (sum > 0) made.rounds = std::ceil(now / (sum / static_cast<double>(tasks.size())) - 1e-9);
  for (const TaskRecord& task : farm.table().tasks()) {
    if (task.state != State::Waiting) continue;
    if (made.never++ == 0) made.why_never = fmt::format("{} {}", task.task.name, farm.why_waiting(task));
  }
  return made;
}

}  // namespace radl::farm
