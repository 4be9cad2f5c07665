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

// How long each task that is not over takes from now on: as predicted, or 1 of every one if a length is
// unknown.
std::map<std::string, double> lengths_of(const Farm& farm, bool known) {
  std::map<std::string, double> lengths;
  for (const TaskRecord& task : farm.table().tasks())
    if (!is_over(task.state)) lengths[task.task.name] = known ? farm.predicted(task.task) : 1;
  return lengths;
}

// Adds the trials that the search may add now, each of which takes `length`.
void add_trials(Farm& farm, TrialsLeft& left, const Resources& needs, double now, double length,
                std::map<std::string, double>& lengths) {
  for (; left.may_begin(farm.table()); --left.count, ++left.first) {
    const std::string name = trial_name(left.first);
    if (farm.apply(add_event({name, needs, 0, Json::object()}, now)).ok()) lengths[name] = length;
  }
}

double busy_nodes(const std::map<std::string, size_t>& running) {
  return static_cast<double>(
      std::count_if(running.begin(), running.end(), [](const auto& each) { return each.second > 0; }));
}

// When each node is removed, as counts over time.
void take_nodes(const Farm& farm, const std::map<std::string, double>& last_end, double begin, double end,
                double idle_seconds, Rehearsal& made) {
  std::map<double, size_t> removed;
  size_t count = 0;
  for (const Host& host : farm.hosts()) {
    if (!host.open) continue;
    const auto last = last_end.find(host.name);
    const double busy_until = last == last_end.end() ? begin : last->second;
    const double until = idle_seconds < 0 ? end : std::min(end, busy_until + idle_seconds);
    made.paid_seconds += until - begin;
    ++removed[until - begin];
    ++count;
  }
  if (count > 0) made.nodes.push_back({0, count});
  for (const auto& [at, nodes] : removed) made.nodes.push_back({at, count -= nodes});
}

constexpr size_t kManyWaiting = 1000;
constexpr double kParts = 200;  // of the duration

// The longest part into which waiting tasks may be joined.
double part_of(const Farm& farm) {
  double length = 0, needed = 0, offered = 0, waiting = 0;
  for (const TaskRecord& task : farm.table().tasks()) {
    if (task.state != State::Waiting) continue;
    length += farm.predicted(task.task);
    needed += static_cast<double>(task.task.needs.cpu);
    ++waiting;
  }
  for (const Host& host : farm.hosts()) offered += static_cast<double>(host.registered.cpu);
  const double at_once = std::clamp(offered / std::max(needed / waiting, 1.0), 1.0, waiting);
  return length / at_once / kParts;
}

// The farm without its finished tasks, and with waiting ones of the same needs joined.
Farm in_parts(const Farm& farm) {
  Farm made(farm.policy());
  for (const Host& host : farm.hosts()) {
    (void)made.apply(host.machines.empty() ? node_event(host.name, host.registered, 0)
                                           : cluster_event(host.name, host.registered, host.machines, 0));
    if (!host.open) (void)made.apply(gone_event(host.name, "", 0));
  }
  const double part = part_of(farm);
  std::map<Resources, Task> open;
  for (const TaskRecord& task : farm.table().tasks()) {
    Task one{task.task.name, task.task.needs, farm.predicted(task.task)};
    if (task.state == State::Running && !task.uncommitted) {
      (void)made.apply(add_event(one, 0));
      (void)made.apply(start_event(one.name, 1, task.node, task.started));
    }
    if (task.state != State::Waiting) continue;
    Task& joined = open.try_emplace(one.needs, Task{one.name, one.needs}).first->second;
    joined.seconds += one.seconds;
    if (joined.seconds < part && one.seconds > 0) continue;
    if (one.seconds <= 0) joined.seconds = 0;  // unknown
    (void)made.apply(add_event(joined, 0));
    open.erase(one.needs);
  }
  for (const auto& [needs, joined] : open) (void)made.apply(add_event(joined, 0));
  return made;
}

void take_never(const Farm& farm, Rehearsal& made) {
  for (const TaskRecord& task : farm.table().tasks()) {
    if (task.state != State::Waiting) continue;
    if (made.never++ == 0) made.why_never = fmt::format("{} {}", task.task.name, farm.why_waiting(task));
  }
}

}  // namespace

Rehearsal rehearse_rest(Farm farm, double begin, const TrialsLeft& trials, const Resources& trial_needs,
                        const Comings& comings) {
  const double predicted = farm.predicted({"", trial_needs, 0, Json::object()});
  Rehearsal made;
  made.tasks = trials.count;
  made.known = trials.count == 0 || predicted > 0;
  for (const TaskRecord& task : farm.table().tasks()) {
    if (is_over(task.state)) continue;
    ++made.tasks;
    made.known = made.known && farm.predicted(task.task) > 0;
  }
  made.known = made.known && made.tasks > 0;
  std::map<std::string, double> lengths = lengths_of(farm, made.known);
  const double trial = made.known ? predicted : 1;
  double sum = static_cast<double>(trials.count) * trial;
  for (const auto& [task, length] : lengths) sum += length;
  std::priority_queue<Ahead, std::vector<Ahead>, std::greater<>> ends;
  std::map<std::string, size_t> running;   // by node
  std::map<std::string, double> last_end;  // of a task, by node
  bool waits = !comings.late.empty();
  const auto start = [&](const std::string& name, double at) {
    const TaskRecord& task = *farm.table().find(name);
    ends.push({at + lengths[name], name, task.node, task.attempt});
    ++running[task.node];
  };
  for (const auto& [name, length] : lengths) {
    const TaskRecord& task = *farm.table().find(name);
    if (task.state == State::Running) start(name, std::clamp(task.started, begin - length, begin));
  }
  double now = begin;
  TrialsLeft left = trials;
  for (;;) {
    add_trials(farm, left, trial_needs, now, trial, lengths);
    for (auto events = farm.next(now); !events.empty(); events = farm.next(now))
      for (const Event& event : events)
        if (farm.apply(event).ok() && event["event"] == "start") start(event["task"], now);
    made.at_once = std::max(made.at_once, ends.size());
    if (waits && (ends.empty() || ends.top().at >= begin + comings.create_seconds)) {
      waits = false;
      made.node_seconds += busy_nodes(running) * (begin + comings.create_seconds - now);
      now = begin + comings.create_seconds;
      farm = with_nodes(std::move(farm), comings.late);
      continue;
    }
    if (ends.empty()) break;
    const Ahead end = ends.top();
    ends.pop();
    made.node_seconds += busy_nodes(running) * (end.at - now);
    now = end.at;
    --running[end.node];
    last_end[end.node] = now;
    (void)farm.apply(end_event(end.task, end.attempt, End::Succeeded, 0, "", now));
    (void)farm.apply(commit_event(end.task, end.attempt, now));
  }
  made.seconds = now - begin;
  if (made.known) take_nodes(farm, last_end, begin, now, comings.idle_seconds, made);
  if (sum > 0) made.rounds = std::ceil(made.seconds / (sum / static_cast<double>(made.tasks)) - 1e-9);
  take_never(farm, made);
  made.never += left.count;
  return made;
}

Rehearsal forecast_rest(const Farm& farm, double now, const TrialsLeft& trials, const Resources& trial_needs,
                        const Comings& comings, const std::map<std::string, Resources>& nodes) {
  const Table& table = farm.table();
  const bool few = table.count(State::Waiting) <= kManyWaiting;
  return rehearse_rest(with_nodes(few || trials.count > 0 ? farm : in_parts(farm), nodes), now, trials,
                       trial_needs, comings);
}

Farm with_nodes(Farm farm, const std::map<std::string, Resources>& nodes) {
  for (const auto& [node, has] : nodes) (void)farm.apply(node_event(node, has, 0));
  return farm;
}

Rehearsal rehearse(const FarmSettings& settings, const std::vector<Resources>& nodes) {
  Farm farm(settings.policy);
  for (size_t i = 0; i < nodes.size(); ++i)
    (void)farm.apply(node_event(fmt::format("{:06}", i), nodes[i], 0));
  for (const Task& task : settings.tasks) (void)farm.apply(add_event(task, 0));
  return rehearse_rest(std::move(farm), 0, settings.search ? Search(*settings.search).left() : TrialsLeft(),
                       settings.trial_needs);
}

}  // namespace radl::farm
