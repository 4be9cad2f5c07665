#include "runtime/driver/farms.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "common/guarded.h"
#include "common/json_values.h"
#include "runtime/farm/journal.h"
#include "runtime/farm/plot.h"
#include "runtime/farm/rehearsal.h"
#include "runtime/farm/snapshot.h"
#include "runtime/farm/timeline.h"
#include "runtime/foresight/run_model.h"
#include "runtime/steps/farm/farm_run.h"

namespace radl::driver {

using farm::Event;
using farm::State;
using farm::TaskRecord;

namespace {

constexpr size_t kMostAttempts = 5000;  // of a timeline

// How long the rest of the farm takes; nothing: it is over, no task has finished yet, or it is unknown.
std::optional<double> seconds_left(const KnownFarm& known, double now) {
  const farm::Table& table = known.farm.table();
  for (const farm::Host& host : known.farm.hosts())
    if (!host.machines.empty()) return std::nullopt;  // a cluster's scheduler decides
  farm::TrialsLeft trials;
  trials.count = static_cast<size_t>(json::number_of(table.settings(), "trials"));
  trials.population = static_cast<size_t>(json::number_of(table.settings(), "population"));
  farm::Resources needs;
  for (const TaskRecord& task : table.tasks()) {
    if (trials.count == 0) break;  // no search, or it is over: nobody reads what the tasks run
    if (!task.task.spec.contains("parameters")) continue;
    needs = task.task.needs;
    ++trials.first;
    --trials.count;
  }
  if (table.is_over() && trials.count == 0) return std::nullopt;
  const farm::Rehearsal rest = farm::forecast_rest(known.farm, now, trials, needs);
  return rest.known && rest.never == 0 ? std::optional(rest.seconds) : std::nullopt;
}

// Nothing: the amounts are of several currencies.
std::optional<Money> total_of(const MoneySum& sum) {
  auto total = sum.total();
  return total.ok() ? std::optional(*total) : std::nullopt;
}

// What the farm's nodes cost an hour, as the state has their prices; nothing: they are of several currencies.
std::optional<Money> rate_of(const KnownFarm& known, const Snapshot& state) {
  MoneySum sum;
  for (const auto& [name, node] : known.farm.table().nodes()) {
    auto found = state.resources.find(name);
    if (found != state.resources.end()) sum.add(found->second.price_per_hour);
  }
  return total_of(sum);
}

Json without_kind(Json event) {
  if (event.is_object()) event.erase("event");
  return event;
}

// The price of a node; of one that no longer exists, that of another node of its system.
std::optional<Money> price_of(const std::string& node, const Snapshot& state) {
  const auto found = state.resources.find(node);
  if (found != state.resources.end()) return found->second.price_per_hour;
  const std::string system = node.substr(0, node.find('['));
  for (const auto& [address, resource] : state.resources)
    if (resource.system == system) return resource.price_per_hour;
  return {};
}

std::optional<Money> cost_since(double began, const farm::Timeline& timeline, const Snapshot& state,
                                double now) {
  MoneySum sum;
  for (const farm::Timeline::Stay& stay : timeline.stays()) {
    const double seconds = (stay.until > 0 ? stay.until : now) - std::max(stay.since, began);
    if (seconds <= 0) continue;
    auto price = price_of(stay.node, state);
    if (!price) return {};
    price->micros = static_cast<int64_t>(static_cast<double>(price->micros) * seconds / 3600);
    sum.add(*price);
  }
  return total_of(sum);
}

// `reader`: observes each event of the farm's journal.
template <class Reader>
Status read_events(const KnownFarm& known, Reader& reader) {
  return farm::read_journal(known.folder + farm::kJournalFile, [&](const Event& event) {
    reader.observe(event);
    return Status();
  });
}

}  // namespace

std::string KnownFarm::name() const {
  const Json& settings = farm.table().settings();
  return settings.is_object() ? json::text_of(settings, "name") : job;
}

Result<KnownFarm> read_farm(const std::string& folder) {
  Result<farm::Farm> farm = farm::Farm();
  Status read = guarded([&] {
    farm = farm::load_farm(folder);
    return farm.status();
  });
  if (!read.ok()) return read;
  return KnownFarm{std::filesystem::path(folder).filename(), folder, std::move(*farm)};
}

FarmList farms_of(const std::string& work_directory) {
  FarmList all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(farm::farms_folder(work_directory), error)) {
    auto known = read_farm(entry.path());
    if (known.ok())
      all.farms.push_back(std::move(*known));
    else if (known.status().code() != Code::NotFound)
      all.unreadable.push_back({entry.path().filename(), std::move(known).status()});
  }
  std::ranges::sort(all.farms, {}, &KnownFarm::job);
  std::ranges::sort(all.unreadable, {}, &FarmList::Unreadable::job);
  return all;
}

Result<KnownFarm> find_farm(const std::string& work_directory, const std::string& infrastructure,
                            const std::string& name) {
  auto [all, unreadable] = farms_of(work_directory);
  if (!name.empty())
    std::erase_if(all, [&](const KnownFarm& one) { return one.name() != name && one.job != name; });
  // The name of a farm is in its journal, so one that cannot be read may be the requested one.
  if (all.empty() && !unreadable.empty()) return std::move(unreadable.front().why);
  if (all.empty())
    return not_found(name.empty() ? infrastructure + " has no farms"
                                  : "no farm '" + name + "' in " + infrastructure);
  if (all.size() == 1) return std::move(all.front());
  std::string names;
  for (const KnownFarm& each : all) names += (names.empty() ? "" : ", ") + each.job;
  return invalid("several farms: " + names).with_hint("name one with --farm");
}

Json farm_status(const KnownFarm& known, const Snapshot& state, double now) {
  const farm::Table& table = known.farm.table();
  Json json = {{"farm", known.name()}, {"job", known.job}, {"counts", Json::object()}};
  const auto left = seconds_left(known, now);
  const auto rate = rate_of(known, state);
  json["over"] = table.is_over();
  json["seconds_left"] = left ? Json(*left) : Json();
  json["cost_per_hour"] = rate ? Json(*rate) : Json();
  json["cost_left"] = left && rate ? Json(foresight::billed(*rate, *left, {})) : Json();
  json["node_seconds"] = table.approval().node_seconds(now);
  json["approved"] = without_kind(table.approved());
  json["paused"] = without_kind(table.paused());
  if (const std::string metric = json::text_of(table.settings(), "metric"); !metric.empty()) {
    json["metric"] = metric;
    json["goal"] = json::text_of(table.settings(), "goal");
    json["trials"] = static_cast<size_t>(json::number_of(table.settings(), "trials"));
  }
  for (State its :
       {State::Waiting, State::Running, State::Finished, State::Stopped, State::Failed, State::Cancelled})
    json["counts"][std::string(farm::state_name(its))] = table.count(its);
  json["nodes"] = Json::array();
  for (const auto& [name, node] : table.nodes())
    json["nodes"].push_back({{"node", name}, {"quarantined", node.quarantined}, {"gone", node.gone}});
  if (const TaskRecord* best = best_task(table))
    json["best"] = {{"task", best->task.name},
                    {"parameters", json::member(best->task.spec, "parameters")},
                    {"metrics", best->metrics}};
  return json;
}

std::string reason_of(const farm::Farm& farm, const TaskRecord& task) {
  if (task.state == State::Waiting) return farm.why_waiting(task);
  if (!task.queued.empty()) return task.queued;
  const size_t last = task.reason.rfind('\n');
  std::string text = last == std::string::npos ? task.reason : task.reason.substr(last + 1);
  if (task.state == State::Failed)
    text = fmt::format("exit status {} on {}{}{}", task.status, task.node, text.empty() ? "" : ": ", text);
  return text;
}

const TaskRecord* best_task(const farm::Table& table) {
  const std::string metric = json::text_of(table.settings(), "metric");
  const bool maximize = json::text_of(table.settings(), "goal") == "max";
  const TaskRecord* best = nullptr;
  if (metric.empty()) return best;
  for (const TaskRecord& task : table.tasks()) {
    if (task.state != State::Finished && task.state != State::Stopped) continue;
    const Json& value = json::member(task.metrics, metric);
    if (!value.is_number()) continue;
    const double now = value.get<double>();
    const double before = best ? json::number_of(best->metrics, metric) : 0;
    if (best == nullptr || (maximize ? now > before : now < before)) best = &task;
  }
  return best;
}

Json farm_tasks(const KnownFarm& known) {
  const std::string metric = json::text_of(known.farm.table().settings(), "metric");
  Json all = Json::array();
  for (const TaskRecord& task : known.farm.table().tasks()) {
    const Json& value = json::member(task.metrics, metric);
    Json one = {{"task", task.task.name},
                {"state", farm::state_name(task.state)},
                {"attempt", task.attempt},
                {"node", task.node},
                {"needs", farm::to_json(task.task.needs)},
                {"parameters", json::member(task.task.spec, "parameters")},
                {"metrics", task.metrics.is_null() ? Json::object() : task.metrics},
                {"value", value.is_number() ? value : Json()},
                {"started", task.started},
                {"seconds", task.ended > task.started ? Json(task.ended - task.started) : Json()},
                {"why", reason_of(known.farm, task)},
                {"failed_on", task.failed_on},
                {"preemptions", task.preemptions}};
    if (!one["parameters"].is_object()) one["parameters"] = Json::object();
    all.push_back(std::move(one));
  }
  return all;
}

Result<Json> farm_curves(const KnownFarm& known, const std::string& metric) {
  farm::Curves curves(metric);
  if (Status read = read_events(known, curves); !read.ok()) return read;
  return farm::plot_of(known.name(), known.farm.table(), curves, metric);
}

Result<Json> farm_timeline(const KnownFarm& known, const Snapshot& state, double now) {
  farm::Timeline timeline;
  if (Status read = read_events(known, timeline); !read.ok()) return read;
  Json json = timeline.to_json(kMostAttempts);
  const Json& began = json::member(known.farm.table().approved(), "began");
  const auto cost = began.is_number() ? cost_since(began.get<double>(), timeline, state, now) : std::nullopt;
  json["began"] = began;
  json["cost"] = cost ? Json(*cost) : Json();
  json["now"] = now;
  return json;
}

}  // namespace radl::driver
