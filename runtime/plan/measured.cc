#include "runtime/plan/measured.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/ir/resource_schema.h"
#include "runtime/plan/build.h"

namespace radl {
namespace {

std::string machine_of(const Plan& plan, const std::string& node) {
  auto cost = std::find_if(plan.costs.begin(), plan.costs.end(),
                           [&](const ResourceCost& one) { return one.address == node; });
  return cost == plan.costs.end() ? "" : cost->machine;
}

// "worker[0]/tools" -> "tools"; a training's id is its own.
std::string recipe_of(const std::string& id) {
  const size_t slash = id.rfind('/');
  return slash == std::string::npos ? id : id.substr(slash + 1);
}

}  // namespace

std::string measure_key(const Plan& plan, const Action& action) {
  if (action.verb == Verb::Run) {
    if (action.nodes.empty()) return "";
    const std::string machine = machine_of(plan, action.nodes.front());
    // What a job is says its summary: model, dataset, how many of which role.
    const bool is_job = ir::is_job_type(action.step_kind);
    return machine.empty() ? ""
                           : fmt::format("{} {} on {}", action.step_kind,
                                         is_job ? action.summary : recipe_of(action.id), machine);
  }
  if (action.is_step || (action.verb != Verb::Create && action.verb != Verb::Replace)) return "";
  const std::string machine = action.nodes.empty() ? "" : machine_of(plan, action.id);
  return fmt::format("create {} {}{}", action.cloud, action.type, machine.empty() ? "" : " as " + machine);
}

void use_measured(Plan& plan, const std::map<std::string, double>& measured) {
  if (measured.empty()) return;
  for (Action& action : plan.actions) {
    auto found = measured.find(measure_key(plan, action));
    if (found != measured.end() && !found->first.empty()) action.seconds = found->second;
  }
  predict(plan);
}

}  // namespace radl
