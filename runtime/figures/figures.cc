#include "runtime/figures/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "compiler/resources/resource_schema.h"
#include "runtime/plan/measured.h"

namespace radl {
namespace {

constexpr int kVersion = 1;
constexpr size_t kNewest = 5;  // of one kind of work: clouds get quicker, recipes longer

using SecondsOf = std::function<std::optional<double>(const Action&)>;

void at_least(std::optional<double>& longest, double seconds) {
  longest = std::max(longest.value_or(0), seconds);
}

// The same sums for what was predicted and for what was measured.
PhaseSeconds phases(const Plan& plan, const std::set<std::string>& staging, const SecondsOf& seconds_of) {
  PhaseSeconds phase;
  std::map<std::string, double> configure, stage;
  bool makes = false;
  for (const Action& action : plan.actions) {
    const std::optional<double> seconds = seconds_of(action);
    if (!seconds) continue;
    if (!action.is_step) {
      makes |= action.verb == Verb::Create || action.verb == Verb::Replace;
    } else if (ir::is_job_type(action.step_kind)) {
      at_least(phase.train, *seconds);
    } else if (action.verb == Verb::Run) {
      for (const std::string& node : action.nodes)
        (staging.contains(action.id) ? stage : configure)[node] += *seconds;
    }
  }
  if (makes)
    phase.create = create_seconds(plan, [&](const Action& action) { return seconds_of(action).value_or(0); });
  for (const auto& [node, seconds] : configure) at_least(phase.configure, seconds);
  for (const auto& [node, seconds] : stage) at_least(phase.stage, seconds);
  return phase;
}

// What `seconds` at this price come to, rounded to the nearest millionth.
Money part_of(const Money& per_hour, double seconds) {
  return {static_cast<int64_t>(static_cast<double>(per_hour.micros) * seconds / 3600 + 0.5),
          per_hour.currency};
}

MoneySum cost_of(const Plan& plan, const RunClock& clock) {
  MoneySum sum;
  for (const ResourceCost& cost : plan.costs) {
    const double made = clock.begun(cost.address),
                 from = made > 0 && cost.before.zero() ? made : clock.begun();
    const double gone = clock.ended(cost.address);
    const bool goes = cost.after.zero();
    const double to = goes && gone > 0 ? gone : clock.ended();
    // What was to be made and never begun has cost nothing.
    if (cost.before.zero() && made == 0) continue;
    sum.add(part_of(goes ? cost.before : cost.after, std::max(to - from, 0.0)));
  }
  return sum;
}

// "ec2" of "ec2:/eu-west-1", where all is in one.
std::string only_cloud(const Plan& plan) {
  std::set<std::string> types;
  for (const ResourceCost& cost : plan.costs) types.insert(cost.cloud.substr(0, cost.cloud.find(':')));
  return types.size() == 1 ? *types.begin() : "";
}

// By key, by how many of it were done side by side, and by kind.
void measure_actions(const Plan& plan, const std::set<std::string>& staging,
                     const std::map<std::string, const ActionOutcome*>& done,
                     std::map<std::string, double>& measured) {
  const MeasureKeys keys(plan);
  std::map<std::string, std::pair<double, size_t>> alone;  // of a key the slowest, and how many
  std::map<std::string, std::pair<double, double>> kinds;  // of a kind: what it took, and what is usual
  for (const Action& action : plan.actions) {
    const std::string key = keys.of(action);
    auto found = done.find(action.id);
    if (key.empty() || found == done.end()) continue;
    // Among equal actions, a plan waits for the slowest.
    auto& [seconds, count] = alone[key];
    seconds = std::max(seconds, found->second->seconds), ++count;
    // A dataset's duration depends on its size, so it says nothing about other steps.
    if (const std::string kind = kind_key(action, key); !kind.empty() && !staging.contains(action.id)) {
      auto& [took, usual] = kinds[kind];
      took += found->second->seconds, usual += *action.usual_seconds;
    }
  }
  for (const auto& [key, slowest] : alone)
    measured[key] = measured[at_once_key(key, slowest.second)] = slowest.first;
  for (const auto& [kind, sums] : kinds)
    if (sums.second > 0) measured[kind] = sums.first / sums.second;
}

Json to_json(const PhaseSeconds& phase) {
  Json json = Json::object();
  auto put = [&](const char* name, const std::optional<double>& seconds) {
    if (seconds) json[name] = *seconds;
  };
  put("create", phase.create);
  put("configure", phase.configure);
  put("stage", phase.stage);
  put("train", phase.train);
  put("around", phase.around);
  put("whole", phase.whole);
  return json;
}

PhaseSeconds read_phases(const Json& json) {
  auto get = [&](const char* name) {
    return json.contains(name) ? std::optional(json.at(name).get<double>()) : std::nullopt;
  };
  return {get("create"), get("configure"), get("stage"), get("train"), get("around"), get("whole")};
}

}  // namespace

bool RunFigures::operator==(const RunFigures& other) const { return to_line(*this) == to_line(other); }

void RunClock::emit(const Event& event) {
  switch (event.kind) {
    case EventKind::RunStarted:
      begun_ = event.time;
      break;
    case EventKind::ActionStarted:
      begun_of_.emplace(event.id, event.time);
      break;
    case EventKind::ActionFinished:
    case EventKind::ActionFailed:
      ended_of_[event.id] = event.time;
      break;
    case EventKind::RunFinished:
      ended_ = event.time;
      break;
    default:
      break;
  }
}

double RunClock::begun(const std::string& id) const {
  auto found = begun_of_.find(id);
  return found == begun_of_.end() ? 0 : found->second;
}

double RunClock::ended(const std::string& id) const {
  auto found = ended_of_.find(id);
  return found == ended_of_.end() ? 0 : found->second;
}

RunFigures figures_of(const Plan& plan, const RunReport& report, const RunClock& clock,
                      const std::set<std::string>& staging) {
  RunFigures figures;
  figures.time = clock.begun();
  figures.infrastructure = plan.infrastructure;
  figures.lineage = plan.lineage;
  figures.command = plan.destroys ? "destroy" : "apply";
  figures.cloud = only_cloud(plan);
  figures.ok = report.status.ok() && report.failed() == 0;
  std::map<std::string, const ActionOutcome*> done;
  for (const ActionOutcome& outcome : report.actions)
    if (outcome.state == ActionOutcome::State::Done) done[outcome.id] = &outcome;

  figures.predicted = phases(plan, staging, [](const Action& action) { return action.seconds; });
  if (plan.totals.seconds_complete) figures.predicted.whole = plan.totals.seconds;
  figures.actual = phases(plan, staging, [&](const Action& action) {
    auto found = done.find(action.id);
    return found == done.end() ? std::nullopt : std::optional(found->second->seconds);
  });
  figures.actual.whole = report.seconds;

  if (figures.predicted.whole) {
    MoneySum sum;
    for (const ResourceCost& cost : plan.costs)
      sum.add(part_of(cost.after.zero() ? cost.before : cost.after, *figures.predicted.whole));
    figures.predicted_cost = sum;
  }
  figures.cost = cost_of(plan, clock);
  measure_actions(plan, staging, done, figures.measured);
  return figures;
}

void measure_jobs(const Plan& plan, const RunReport& report, const Snapshot& after, RunFigures& figures) {
  const MeasureKeys keys(plan);
  for (const ActionOutcome& outcome : report.actions) {
    const Action* action = plan.find(outcome.id);
    const auto record = after.steps.find(outcome.id);
    if (outcome.state != ActionOutcome::State::Done || action == nullptr || record == after.steps.end() ||
        !ir::is_job_type(action->step_kind))
      continue;
    const std::string key = keys.of(*action);
    const Json& output = record->second.output;
    if (key.empty() || !output.contains("seconds") || !output["seconds"].is_number()) continue;
    const double around = std::max(outcome.seconds - output["seconds"].get<double>(), 0.0);
    // A short run that was ended early says nothing of the whole.
    if (!output.value("ended", true)) {
      figures.measured.erase(key);
      figures.measured.erase(at_once_key(key, 1));
    }
    figures.measured[around_key(key)] = around;
    double& any = figures.measured[around_any_key(*action, key)];
    any = std::max(any, around);
    at_least(figures.actual.around, around);
  }
}

MoneySum cost_of_life(const Snapshot& snapshot, double now) {
  MoneySum sum;
  for (const auto& [address, record] : snapshot.resources) {
    if (record.created_at > 0)
      sum.add(part_of(record.price_per_hour, std::max(now - record.created_at, 0.0)));
  }
  return sum;
}

std::string to_line(const RunFigures& figures) {
  Json json = {{"run", kVersion},
               {"time", figures.time},
               {"infrastructure", figures.infrastructure},
               {"lineage", figures.lineage},
               {"directory", figures.directory},
               {"command", figures.command},
               {"cloud", figures.cloud},
               {"sources", figures.sources},
               {"ok", figures.ok},
               {"predicted_seconds", to_json(figures.predicted)},
               {"seconds", to_json(figures.actual)},
               {"cost", figures.cost},
               {"measured", figures.measured}};
  if (figures.life_cost) json["life_cost"] = *figures.life_cost;
  if (figures.predicted_cost) json["predicted_cost"] = *figures.predicted_cost;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<RunFigures> from_line(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return invalid("no line of a run");
  try {
    if (int version = json.at("run"); version != kVersion)
      return invalid(fmt::format("a line of version {}; this radlc reads {}", version, kVersion));
    RunFigures figures;
    figures.time = json.at("time");
    figures.infrastructure = json.at("infrastructure");
    figures.lineage = json.value("lineage", "");
    figures.directory = json.at("directory");
    figures.command = json.at("command");
    figures.cloud = json.value("cloud", "");
    if (json.contains("sources"))
      figures.sources = json.at("sources").get<std::map<std::string, std::string>>();
    figures.ok = json.at("ok");
    figures.predicted = read_phases(json.at("predicted_seconds"));
    figures.actual = read_phases(json.at("seconds"));
    figures.cost = json.at("cost").get<MoneySum>();
    if (json.contains("predicted_cost")) figures.predicted_cost = json.at("predicted_cost").get<MoneySum>();
    if (json.contains("life_cost")) figures.life_cost = json.at("life_cost").get<MoneySum>();
    figures.measured = json.at("measured").get<std::map<std::string, double>>();
    return figures;
  } catch (const Json::exception& error) {
    return invalid(std::string("no line of a run: ") + error.what());
  }
}

std::map<std::string, double> measured_by(const std::vector<RunFigures>& runs) {
  std::map<std::string, std::vector<double>> newest;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    for (const auto& [key, seconds] : run->measured) {
      std::vector<double>& of = newest[key];
      if (of.size() < kNewest) of.push_back(seconds);
    }
  }
  std::map<std::string, double> measured;
  for (auto& [key, of] : newest) {
    std::sort(of.begin(), of.end());
    measured[key] = of.size() % 2 == 1 ? of[of.size() / 2] : (of[of.size() / 2 - 1] + of[of.size() / 2]) / 2;
  }
  return measured;
}

PhaseBands bands_by(const std::vector<RunFigures>& runs) {
  PhaseBands bands;
  for (const RunFigures& run : runs) {
    if (!run.ok) continue;
    auto add = [&](const char* phase, const std::optional<double>& predicted,
                   const std::optional<double>& actual) {
      const auto source = run.sources.find(phase);
      if (predicted && actual && source != run.sources.end())
        bands.add(phase, run.cloud, source->second, *predicted, *actual);
    };
    add("create", run.predicted.create, run.actual.create);
    add("configure", run.predicted.configure, run.actual.configure);
    add("stage", run.predicted.stage, run.actual.stage);
    add("bring back", run.predicted.around, run.actual.around);
  }
  return bands;
}

}  // namespace radl
