#include "runtime/plan/measured.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/resources/resource_schema.h"
#include "runtime/plan/build.h"
#include "runtime/plan/graph.h"

namespace radl {
namespace {

// "worker[0]/tools" -> "tools"; a training's id is its own.
std::string recipe_of(const std::string& id) {
  const size_t slash = id.rfind('/');
  return slash == std::string::npos ? id : id.substr(slash + 1);
}

}  // namespace

std::string machine_kind(std::string_view machine) {
  const size_t account = machine.find(':'), type = machine.rfind(' ');
  if (account == machine.npos) return std::string(machine);
  return std::string(machine.substr(0, account)) +
         (type == machine.npos ? "" : std::string(machine.substr(type)));
}

MeasureKeys::MeasureKeys(const Plan& plan) {
  machines_.reserve(plan.costs.size());
  for (const ResourceCost& cost : plan.costs) machines_.emplace(cost.address, cost.machine);
}

std::string_view MeasureKeys::machine_of(const std::string& node) const {
  auto found = machines_.find(node);
  return found == machines_.end() ? "" : found->second;
}

std::string MeasureKeys::of(const Action& action) const {
  if (action.verb == Verb::Run) {
    if (action.nodes.empty()) return "";
    const std::string_view machine = machine_of(action.nodes.front());
    if (machine.empty()) return "";
    if (action.step_kind == ir::step_kind_name(ir::StepKind::Program)) {
      const std::string work = action.spec.is_object() ? action.spec.value("work", "") : "";
      return work.empty() ? "" : program_key(work, action.nodes.size(), machine_kind(machine));
    }
    // A training's summary identifies it: model, dataset, number of nodes per role.
    const bool is_job = ir::is_job_type(action.step_kind);
    return fmt::format("{} {} on {}", action.step_kind, is_job ? action.summary : recipe_of(action.id),
                       machine);
  }
  if (action.is_step || (action.verb != Verb::Create && action.verb != Verb::Replace)) return "";
  const std::string_view machine = action.nodes.empty() ? "" : machine_of(action.id);
  return fmt::format("create {} {}{}{}", action.cloud, action.type, machine.empty() ? "" : " as ", machine);
}

std::string program_key(std::string_view identity, size_t nodes, std::string_view machine) {
  return fmt::format("program {} of {} on {}", identity, nodes, machine);
}

std::string at_once_key(const std::string& key, size_t count) {
  return count > 1 ? fmt::format("{}, {} at once", key, count) : key + ", one at once";
}

std::string kind_key(const Action& action, const std::string& key) {
  const size_t on = key.rfind(" on ");
  if (!action.usual_seconds || ir::is_job_type(action.step_kind) || on == std::string::npos) return "";
  return action.step_kind + key.substr(on) + ", of what is usual";
}

std::map<std::string, size_t> counts_of(const Plan& plan, const MeasureKeys& keys) {
  std::map<std::string, size_t> counts;
  for (const Action& action : plan.actions)
    if (const std::string key = keys.of(action); !key.empty()) ++counts[key];
  return counts;
}

std::optional<MeasuredSeconds> measured_seconds(const Action& action, const std::string& key, size_t count,
                                                const std::map<std::string, double>& measured) {
  if (key.empty()) return std::nullopt;
  for (const std::string& exactly : {at_once_key(key, count), key})
    if (auto found = measured.find(exactly); found != measured.end())
      return MeasuredSeconds{found->second, false};
  const std::string kind = kind_key(action, key);
  auto found = kind.empty() ? measured.end() : measured.find(kind);
  if (found == measured.end()) return std::nullopt;
  return MeasuredSeconds{found->second * *action.usual_seconds, true};
}

std::string around_key(const std::string& key) { return "around " + key; }

std::string around_any_key(const Action& action, const std::string& key) {
  const size_t on = key.rfind(" on ");
  return on == std::string::npos ? "" : "around any " + action.step_kind + key.substr(on);
}

std::set<std::string> staging_steps(const ir::Program& program) {
  std::set<std::string> ids;
  for (const ir::Step& step : program.steps)
    if (std::any_of(step.resources.begin(), step.resources.end(),
                    [](const ir::Resource& resource) { return resource.type == "dataset"; }))
      ids.insert(step.id);
  return ids;
}

double create_seconds(const Plan& plan, const std::function<double(const Action&)>& seconds) {
  const Result<PlanGraph> graph = plan_graph(plan);
  if (!graph.ok()) return 0;
  return graph->dag.longest_path([&](Dag::Id id) {
    const PlanVertex& vertex = graph->vertices[id];
    if (vertex.phase != PlanVertex::Phase::Make) return 0.0;
    const Action& action = plan.actions[vertex.index];
    const bool makes = !action.is_step && (action.verb == Verb::Create || action.verb == Verb::Replace);
    return makes ? seconds(action) : 0.0;
  });
}

void use_measured(Plan& plan, const std::map<std::string, double>& measured) {
  if (measured.empty()) return;
  const MeasureKeys keys(plan);
  const std::map<std::string, size_t> counts = counts_of(plan, keys);
  bool changed = false;
  for (Action& action : plan.actions) {
    const std::string key = keys.of(action);
    if (key.empty()) continue;
    const auto known = measured_seconds(action, key, counts.at(key), measured);
    if (!known) continue;
    action.seconds = known->seconds;
    changed = true;
  }
  if (changed) predict(plan);
}

}  // namespace radl
