// The parts of make_plan, in the order in which make_plan.cc calls them. Internal to runtime/plan.
#pragma once

#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "runtime/plan/desired.h"
#include "runtime/plan/graph.h"
#include "runtime/plan/plan.h"

namespace radl {

// What the parts share while one plan is made.
struct Draft {
  const PlanInput& input;
  DesiredResources desired;
  Plan plan;
  std::unordered_map<std::string, size_t> resource_actions;  // address -> index in plan.actions
  std::unordered_map<std::string, size_t> step_actions;      // step id -> index in plan.actions
  std::map<std::string, std::string> broken;                 // address -> why, as a refresh saw it
  std::set<std::string> started;                             // nodes that are started again, or restarted
  std::set<std::string> left_out;                            // actions that are no targets
  PlanGraph graph = PlanGraph();                             // of the plan in its order

  const Action* resource_action(const std::string& address) const {
    auto found = resource_actions.find(address);
    return found == resource_actions.end() ? nullptr : &plan.actions[found->second];
  }
  // The node is new after this plan: what was on it is not there.
  bool is_made_anew(const std::string& address) const {
    const Action* action = resource_action(address);
    return action && (action->verb == Verb::Create || action->verb == Verb::Replace);
  }
};

// Creates, updates and replacements of what is wanted.
void plan_resources(Draft& draft);
// Steps that have to run, and why.
void plan_steps(Draft& draft);
// Removals of what is not wanted any more, and records of steps that are not there any more.
void plan_removals(Draft& draft);
// Actions that must come before others.
void plan_edges(Draft& draft);
// What is done before nodes of an elastic system go (scaling.h).
void plan_drains(Draft& draft);
// What the state is to remember of `radlc scale`. Conflict: a job that has not ended needs a node that would
// go.
Status plan_scaling(Draft& draft);
// Leaves out what is no target (PlanOptions::targets) and needed by none. Invalid: a target that is nowhere.
Status plan_targets(Draft& draft);
// Of a value that would be known only after what is left out.
bool waits_for_left_out(const Draft& draft, const Json& value);
// The total order, and the graph in it; Invalid on a cycle.
Status plan_order(Draft& draft);
// Invalid: a node would be removed or replaced whose system has, or had when it was applied,
// prevent_destroy = 'yes'; names its line.
Status check_protected(const Draft& draft);
// What the state is to remember of prevent_destroy.
void plan_protections(Draft& draft);
void plan_outputs(Draft& draft);
void plan_drift(Draft& draft);
// Notes which machines are trusted on first use, and whether SSH is opened to everybody.
void plan_trust(Draft& draft);
void plan_costs(Draft& draft);
// Of a plan whose actions and costs are there; `graph` is the plan's own.
void add_totals(Plan& plan, const PlanGraph& graph);
void add_totals(Plan& plan);
// The time that the whole plan takes, anew from that of its actions.
void predict(Plan& plan);

// A note where a run is at work on the same state, or one was interrupted.
void note_other_runs(const Snapshot& snapshot, Plan& plan);

// What the state has that something uses which `radlc state rm` released, with what that needs: address -> by
// what.
std::map<std::string, std::string> used_by_released(const Snapshot& snapshot);
// Notes what stays, and adds it to `except`.
void keep_what_released_use(const Snapshot& snapshot, Plan& plan, std::set<std::string>& except);

// The removal of a recorded resource.
Action removal(const ResourceRecord& record, std::string why);
// Removes all that is in the state but `except`.
Plan removal_plan(const Snapshot& snapshot, std::set<std::string> except);
// What needs others before those; among what is free nodes first, by system and ordinal, then the rest by
// address.
std::vector<const ResourceRecord*> in_removal_order(const Snapshot& snapshot,
                                                    const std::set<std::string>& except);
// What must be removed before what, by the state's records.
void removal_edges(const Snapshot& snapshot, Plan& plan);

}  // namespace radl
