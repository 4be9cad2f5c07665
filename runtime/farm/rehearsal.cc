#include "runtime/farm/rehearsal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>

namespace radl::farm {
namespace {

struct Ahead {
  double at;
  std::string task, node;
  int attempt;
  bool operator>(const Ahead& other) const { return at > other.at; }
};

// What is left of the tasks, and how long each takes from now on: as predicted, or 1 of every one if a length
// is unknown.
std::map<std::string, double> lengths_of(const Farm& farm, bool known) {
  std::map<std::string, double> lengths;
  for (const TaskRecord& task : farm.table().tasks())
    if (!is_over(task.state)) lengths[task.task.name] = known ? farm.predicted(task.task) : 1;
  return lengths;
}

void take_never(const Farm& farm, Rehearsal& made) {
  for (const TaskRecord& task : farm.table().tasks()) {
    if (task.state != State::Waiting) continue;
    if (made.never++ == 0) made.why_never = fmt::format("{} {}", task.task.name, farm.why_waiting(task));
  }
}

}  // namespace

Rehearsal rehearse_rest(Farm farm, double begin, size_t trials, const Resources& trial_needs) {
  for (size_t i = 0; i < trials; ++i)
    (void)farm.apply(add_event({fmt::format("trial {}", i), trial_needs, 0, Json::object()}, begin));
  Rehearsal made;
  made.known = true;
  for (const TaskRecord& task : farm.table().tasks()) {
    if (is_over(task.state)) continue;
    ++made.tasks;
    made.known = made.known && farm.predicted(task.task) > 0;
  }
  made.known = made.known && made.tasks > 0;
  std::map<std::string, double> lengths = lengths_of(farm, made.known);
  double sum = 0;
  for (const auto& [task, length] : lengths) sum += length;
  std::priority_queue<Ahead, std::vector<Ahead>, std::greater<>> ends;
  std::map<std::string, size_t> running;  // by node
  const auto start = [&](const std::string& name, double at) {
    const TaskRecord& task = *farm.table().find(name);
    ends.push({at + lengths[name], name, task.node, task.attempt});
    ++running[task.node];
  };
  for (const auto& [name, length] : lengths) {
    const TaskRecord& task = *farm.table().find(name);
    if (task.state == State::Running) start(name, std::max(task.started, begin - length));
  }
  double now = begin;
  for (;;) {
    for (auto events = farm.next(now); !events.empty(); events = farm.next(now))
      for (const Event& event : events)
        if (farm.apply(event).ok() && event["event"] == "start") start(event["task"], now);
    made.at_once = std::max(made.at_once, ends.size());
    if (ends.empty()) break;
    const Ahead end = ends.top();
    ends.pop();
    const auto busy =
        std::count_if(running.begin(), running.end(), [](const auto& each) { return each.second > 0; });
    made.node_seconds += static_cast<double>(busy) * (end.at - now);
    now = end.at;
    --running[end.node];
    (void)farm.apply(end_event(end.task, end.attempt, End::Succeeded, 0, "", now));
    (void)farm.apply(commit_event(end.task, end.attempt, now));
  }
  made.seconds = now - begin;
  if (sum > 0) made.rounds = std::ceil(made.seconds / (sum / static_cast<double>(made.tasks)) - 1e-9);
  take_never(farm, made);
  return made;
}

Rehearsal rehearse(const FarmSettings& settings, const std::vector<Resources>& nodes) {
  Farm farm(settings.policy);
  for (size_t i = 0; i < nodes.size(); ++i)
    (void)farm.apply(node_event(fmt::format("{:06}", i), nodes[i], 0));
  for (const Task& task : settings.tasks) (void)farm.apply(add_event(task, 0));
  return rehearse_rest(std::move(farm), 0, settings.search ? settings.search->trials : 0,
                       settings.trial_needs);
}

}  // namespace radl::farm
