#include "runtime/farm/farm.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/human.h"
#include "common/json_values.h"

namespace radl::farm {

Host* Farm::host(const std::string& name) {
  auto found =
      std::find_if(hosts_.begin(), hosts_.end(), [&](const Host& each) { return each.name == name; });
  return found == hosts_.end() ? nullptr : &*found;
}

double Farm::predicted(const Task& task) const {
  if (task.seconds > 0) return predicted_ > 0 ? task.seconds * actual_ / predicted_ : task.seconds;
  return finished_ > 0 ? seconds_ / finished_ : 0;
}

double Farm::end_of(const TaskRecord& task) const { return task.started + predicted(task.task); }

void Farm::take_room(const TaskRecord& task) {
  running_[task.node].insert(task.task.name);
  Host* on = host(task.node);
  if (on == nullptr) return;
  on->remaining -= task.task.needs;
  on->until = std::max(on->until, end_of(task));
}

void Farm::free_room(const TaskRecord& task) {
  if (running_[task.node].erase(task.task.name) == 0) return;
  Host* on = host(task.node);
  if (on == nullptr) return;
  on->remaining += task.task.needs;
  on->until = 0;
  for (const std::string& name : running_[task.node])
    on->until = std::max(on->until, end_of(*table_.find(name)));
}

void Farm::learn(const TaskRecord& task) {
  const double took = task.ended - task.started;
  finished_ += 1;
  seconds_ += took;
  if (task.task.seconds <= 0) return;
  predicted_ += task.task.seconds;
  actual_ += took;
}

void Farm::set_hosts_open(const std::string& node) {
  if (Host* on = host(node)) {
    const NodeRecord& record = table_.nodes().at(node);
    on->open = !record.gone && !record.quarantined;
  }
}

void Farm::set_waiting(size_t place, bool waits, double at) {
  const Resources& needs = table_.tasks()[place].task.needs;
  since_.resize(std::max(since_.size(), place + 1));
  if (waits) {
    if (alike_[needs].insert(place).second) since_[place] = at;
    return;
  }
  const auto found = alike_.find(needs);
  if (found == alike_.end() || found->second.erase(place) == 0) return;
  since_[place] = 0;
  if (found->second.empty()) alike_.erase(found);
}

std::optional<size_t> Farm::oldest_waiting() const {
  std::optional<size_t> oldest;
  for (const auto& [needs, places] : alike_)
    oldest = std::min(oldest.value_or(*places.begin()), *places.begin());
  return oldest;
}

Status Farm::apply(const Event& event) {
  const std::string kind = json::text_of(event, "event"), name = json::text_of(event, "task");
  const double at = json::number_of(event, "at");
  if (const TaskRecord* task = kind == "change" ? table_.find(name) : nullptr) {  // by what it needed before
    free_room(*task);
    set_waiting(static_cast<size_t>(task - table_.tasks().data()), false, at);
  }
  if (Status applied = table_.apply(event); !applied.ok()) return applied;
  const std::string node = json::text_of(event, "node");
  if (kind == "node" && host(node) == nullptr) {
    const Resources has = table_.nodes().at(node).registered;
    hosts_.push_back({node, has, has, 0, true});
    hosts_.back().machines = table_.nodes().at(node).machines;
  } else if (kind == "node") {  // it may be another machine now
    Host& on = *host(node);
    on.remaining += table_.nodes().at(node).registered;
    on.remaining -= on.registered;
    on.registered = table_.nodes().at(node).registered;
    on.machines = table_.nodes().at(node).machines;
  }
  if (kind == "node" || kind == "gone") set_hosts_open(node);
  if (kind == "quarantine") {
    set_hosts_open(node);
    for (size_t i = 0; i < table_.tasks().size(); ++i) {  // those that failed there alone may run again
      if (table_.tasks()[i].state == State::Waiting) set_waiting(i, true, at);
    }
  }
  const TaskRecord* task = name.empty() ? nullptr : table_.find(name);
  if (task == nullptr) return {};
  const size_t place = static_cast<size_t>(task - table_.tasks().data());
  if (task->state == State::Running)
    on_[task->node].insert(place);
  else if (const auto left = on_.find(task->node); left != on_.end())
    left->second.erase(place);
  if (kind == "start") {
    take_room(*task);
  } else if (kind == "change" && task->state == State::Running && !task->uncommitted) {
    take_room(*task);
  } else if (kind == "end") {
    free_room(*task);
    if (task->uncommitted && !task->stopping) learn(*task);
  }
  set_waiting(place, task->state == State::Waiting, at);
  return {};
}

std::vector<std::string> Farm::running_on(const std::string& node) const {
  std::vector<std::string> names;
  const auto found = on_.find(node);
  if (found == on_.end()) return names;
  for (const size_t place : found->second) names.push_back(table_.tasks()[place].task.name);
  return names;
}

std::string Farm::reserved_host(double now) const {
  const auto oldest = oldest_waiting();
  if (!oldest || now - since_.at(*oldest) < policy_.reserve_after) return "";
  const Resources& needs = table_.tasks()[*oldest].task.needs;
  const Host* soonest = nullptr;
  for (const Host& each : hosts_) {
    if (!each.open || !each.is_large_enough(needs)) continue;
    if (needs.fits(each.remaining)) return "";  // it has room: nothing is to be kept free
    if (soonest == nullptr || each.until < soonest->until) soonest = &each;
  }
  return soonest == nullptr ? "" : soonest->name;
}

std::vector<int> Farm::free_devices(const Host& host, int64_t count, const std::vector<Event>& starts) const {
  if (count == 0) return {};
  std::set<int> used;
  if (auto found = running_.find(host.name); found != running_.end()) {
    for (const std::string& name : found->second) {
      const std::vector<int>& devices = table_.find(name)->devices;
      used.insert(devices.begin(), devices.end());
    }
  }
  for (const Event& start : starts) {
    if (json::text_of(start, "node") != host.name) continue;
    for (const Json& device : json::list_of(start, "devices")) used.insert(device.get<int>());
  }
  std::vector<int> free;
  for (int device = 0; static_cast<int64_t>(free.size()) < count; ++device)
    if (!used.contains(device)) free.push_back(device);
  return free;
}

std::vector<Resources> Farm::waiting_kinds() const {
  std::vector<Resources> kinds;
  for (const auto& [needs, places] : alike_) kinds.push_back(needs);
  return kinds;
}

std::vector<Event> Farm::next(double now, const Others* others) {
  std::vector<Event> events;
  if (const std::string hole = table_.black_hole(); !hole.empty()) {
    events.push_back(quarantine_event(
        hole, fmt::format("{} different tasks failed there in a row", policy_.rules.black_hole), now));
    return events;
  }
  std::vector<Host> hosts = hosts_;
  const std::string reserved = reserved_host(now);
  for (Host& each : hosts) {
    each.kept_free = each.name == reserved;
    if (others != nullptr) each.remaining -= others->taken(each.name);
  }
  // Tasks in the order of the file. Once one has no room, neither have those that need the same; but one that
  // waits for a node on which it has not failed holds up no other.
  std::map<size_t, const std::set<size_t>*>
      first;  // by its first task that is left: tasks that need the same
  for (const auto& [needs, places] : alike_) first[*places.begin()] = &places;
  while (!first.empty()) {
    const auto [place, places] = *first.begin();
    first.erase(first.begin());
    const TaskRecord& task = table_.tasks()[place];
    const Resources& needs = task.task.needs;
    const double seconds = predicted(task.task);
    auto chosen = choose_host(policy_.rule, needs, seconds, now, hosts, task.failed_on);
    if (chosen && others != nullptr && !others->may_start(needs, hosts[*chosen].name)) continue;
    if (!chosen && task.failed_on.empty()) continue;
    if (chosen) {
      Host& on = hosts[*chosen];
      on.remaining -= needs;
      on.until = std::max(on.until, now + seconds);
      events.push_back(
          start_event(task.task.name, task.attempt + 1, on.name, now, free_devices(on, needs.gpu, events)));
    }
    if (auto after = places->upper_bound(place); after != places->end()) first[*after] = places;
  }
  return events;
}

bool Farm::fits_nowhere(const Resources& needs) const {
  return std::none_of(hosts_.begin(), hosts_.end(),
                      [&](const Host& each) { return each.open && each.is_large_enough(needs); });
}

bool Farm::awaits(const std::string& name, int attempt) const {
  const TaskRecord* task = table_.find(name);
  return task && task->attempt == attempt && task->state == State::Running;
}

namespace {

struct NeedKind {
  int64_t Resources::*amount;
  const char* name;  // in `needs`
};
constexpr NeedKind kNeedKinds[] = {{&Resources::cpu, "cpu"},
                                   {&Resources::memory, "memory"},
                                   {&Resources::gpu, "gpu"},
                                   {&Resources::disk, "disk"}};

std::string amount_text(const NeedKind& kind, const Resources& resources) {
  const int64_t amount = resources.*kind.amount;
  if (kind.amount == &Resources::cpu)
    return fmt::format("{:g} processor{}", static_cast<double>(amount) / 1000, amount == 1000 ? "" : "s");
  if (kind.amount == &Resources::gpu)
    return counted(static_cast<size_t>(std::max<int64_t>(0, amount)), "GPU");
  return fmt::format("{} of {}", size_text(static_cast<double>(std::max<int64_t>(0, amount))), kind.name);
}

// Why it does not start on a node that is large enough.
std::string why_no_room(const Resources& needs, const Host& host) {
  for (const NeedKind& kind : kNeedKinds)
    if (needs.*kind.amount > host.remaining.*kind.amount)
      return fmt::format(
          "needs {}, and {} has {} free; more nodes or a lower `needs.{}` would start it sooner",
          amount_text(kind, needs), host.name, amount_text(kind, host.remaining), kind.name);
  return fmt::format("starts next: {} has room", host.name);
}

}  // namespace

std::string Farm::why_waiting(const TaskRecord& task) const {
  const Resources& needs = task.task.needs;
  const Host *fresh = nullptr, *tried = nullptr;  // large enough; of those the one with most processors free
  for (const Host& each : hosts_) {
    if (!each.open || !each.is_large_enough(needs)) continue;
    const Host*& best =
        std::count(task.failed_on.begin(), task.failed_on.end(), each.name) > 0 ? tried : fresh;
    if (best == nullptr || each.remaining.cpu > best->remaining.cpu) best = &each;
  }
  if (fresh == nullptr && tried == nullptr) return why_waiting(needs);
  if (fresh == nullptr) return why_no_room(needs, *tried);
  std::string why = why_no_room(needs, *fresh);
  if (tried != nullptr && needs.fits(tried->remaining) && !needs.fits(fresh->remaining))
    why = fmt::format("it failed on {}, so it waits for another node: {}", tried->name, why);
  return why;
}

std::string Farm::why_waiting(const Resources& needs) const {
  Resources most;
  const Host* enough = nullptr;
  bool open = false;
  for (const Host& each : hosts_) {
    if (!each.open) continue;
    open = true;
    if (each.is_large_enough(needs) && (enough == nullptr || each.remaining.cpu > enough->remaining.cpu))
      enough = &each;
    const std::vector<Resources> alone = {each.registered};
    for (const Resources& has : each.machines.empty() ? alone : each.machines)
      for (const NeedKind& kind : kNeedKinds)
        most.*kind.amount = std::max(most.*kind.amount, has.*kind.amount);
  }
  if (enough != nullptr) return why_no_room(needs, *enough);
  if (!open) return "no node takes tasks; add nodes, or release a quarantined one";
  for (const NeedKind& kind : kNeedKinds)
    if (needs.*kind.amount > most.*kind.amount)
      return fmt::format(
          "needs {}, and no node has more than {}; larger nodes or a lower `needs.{}` would let it start",
          amount_text(kind, needs), amount_text(kind, most), kind.name);
  return "no single node has all that it needs; larger nodes or lower `needs` would let it start";
}

}  // namespace radl::farm
