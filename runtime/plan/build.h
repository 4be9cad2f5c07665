// The parts of make_plan, in the order of make_plan.cc. Internal to runtime/plan.
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "runtime/plan/desired.h"
#include "runtime/plan/graph.h"
#include "runtime/plan/plan.h"

namespace radl {

// Data shared by the parts while a plan is made.
struct Draft {
  const PlanInput& input;
  DesiredResources desired;
  Plan plan;
  std::unordered_map<std::string, size_t> resource_actions;  // address -> index into plan.actions
  std::unordered_map<std::string, size_t> step_actions;      // step ID -> index into plan.actions
  std::map<std::string, std::string> broken;                 // address -> why, from a refresh
  std::set<std::string> started;                             // nodes that are started or restarted
  std::set<std::string> left_out;                            // actions that are not targets
  PlanGraph graph = PlanGraph();                             // of the ordered plan

  const Action* resource_action(const std::string& address) const {
    auto found = resource_actions.find(address);
    return found == resource_actions.end() ? nullptr : &plan.actions[found->second];
  }
  // True if this plan creates or replaces the node, so that nothing from before is on it.
  bool is_made_anew(const std::string& address) const {
    const Action* action = resource_action(address);
    return action && (action->verb == Verb::Create || action->verb == Verb::Replace);
  }
};

// Creates, updates and replacements of desired resources.
void plan_resources(Draft& draft);
// Steps that must run, and why.
void plan_steps(Draft& draft);
// Removals of undesired resources, and of records of obsolete steps.
void plan_removals(Draft& draft);
// Dependencies between actions.
void plan_edges(Draft& draft);
// Actions before nodes of an elastic system are removed (scaling.h).
void plan_drains(Draft& draft);
// What the state should store about `radlc scale`. Conflict: an unfinished job needs a node that would be
// removed.
Status plan_scaling(Draft& draft);
// Drops actions that no target (PlanOptions::targets) is or needs. Invalid: an unknown target.
Status plan_targets(Draft& draft);
// True for a value known only after an omitted action.
bool waits_for_left_out(const Draft& draft, const Json& value);
// The total order, and its graph. Invalid: a cycle.
Status plan_order(Draft& draft);
// Invalid: a node would be removed or replaced although its system has, or had when applied, prevent_destroy
// = 'yes'; names its line.
Status check_protected(const Draft& draft);
// What the state should store about prevent_destroy.
void plan_protections(Draft& draft);
void plan_outputs(Draft& draft);
void plan_drift(Draft& draft);
// Notes which machines are trusted on first use, and whether SSH is open to all addresses.
void plan_trust(Draft& draft);
void plan_costs(Draft& draft);
// Requires the plan's actions and costs; `graph` is the plan's own.
void add_totals(Plan& plan, const PlanGraph& graph);
void add_totals(Plan& plan);
// Recomputes the plan's total duration from that of its actions.
void predict(Plan& plan);

// Adds a note if a run is active on the same state, or was interrupted.
void note_other_runs(const Snapshot& snapshot, Plan& plan);

// Resources of the state that are used by resources which `radlc state rm` released, including dependencies:
// address -> user.
std::map<std::string, std::string> used_by_released(const Snapshot& snapshot);
// Notes the kept resources and adds them to `except`.
void keep_what_released_use(const Snapshot& snapshot, Plan& plan, std::set<std::string>& except);

// The action that removes a recorded resource.
Action removal(const ResourceRecord& record, std::string why);
// Removes everything in the state except `except`.
Plan removal_plan(const Snapshot& snapshot, std::set<std::string> except);
// Dependents before their dependencies; among free ones, nodes first, by system and ordinal, then the rest by
// address.
std::vector<const ResourceRecord*> in_removal_order(const Snapshot& snapshot,
                                                    const std::set<std::string>& except);
// Removal order by the state's records.
void removal_edges(const Snapshot& snapshot, Plan& plan);

}  // namespace radl
