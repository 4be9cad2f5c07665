// Plans for a part: the targets, with what they need. What else there is to do is left out.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/plan/build.h"
#include "runtime/plan/ordinals.h"
#include "runtime/plan/values.h"

namespace radl {

namespace {

// "worker[3]" -> "worker"; empty if it is not a node.
std::string system_of(const std::string& address) {
  std::string prefix, suffix;
  int ordinal = 0;
  return split_ordinal(address, prefix, ordinal, suffix) && suffix.empty() ? prefix : "";
}

bool names_node(const std::set<std::string>& targets, const std::string& address) {
  if (targets.count(address)) return true;
  const std::string system = system_of(address);
  return !system.empty() && targets.count(system);
}

// A step is one of a node's where it runs on no other.
bool is_target(const std::set<std::string>& targets, const Action& action) {
  if (targets.count(action.id)) return true;
  if (!action.is_step) return names_node(targets, action.id);
  return !action.nodes.empty() && std::all_of(action.nodes.begin(), action.nodes.end(),
                                              [&](const auto& node) { return names_node(targets, node); });
}

Status check_targets(const std::set<std::string>& targets, const std::set<std::string>& known) {
  std::string unknown;
  for (const std::string& target : targets) {
    if (known.count(target)) continue;
    unknown += (unknown.empty() ? "" : "\n") + ("--target " + target + ": no such resource, system or step");
  }
  return unknown.empty() ? Status() : invalid(unknown);
}

void add_names(const Snapshot& snapshot, std::set<std::string>& names) {
  for (const auto& [address, record] : snapshot.resources) {
    names.insert(address);
    if (record.is_node()) names.insert(record.system);
  }
}

std::set<std::string> names_in(const Draft& draft) {
  std::set<std::string> names;
  add_names(draft.input.snapshot, names);
  for (const auto& [id, record] : draft.input.snapshot.steps) names.insert(id);
  for (const ir::Step& step : draft.input.program.steps) {
    if (step.kind != ir::StepKind::Barrier) names.insert(step.id);
  }
  for (const Desired& desired : draft.desired.resources) {
    names.insert(desired.wanted.address);
    if (desired.node) names.insert(desired.node->system);
  }
  return names;
}

// What stays of a plan.
class Selection {
 public:
  explicit Selection(const Plan& plan) : plan_(plan) {
    for (const Action& action : plan.actions) actions_[action.id] = &action;
    for (const Barrier& barrier : plan.barriers) barriers_[barrier.id] = &barrier;
  }

  void add(const std::string& id) {
    std::vector<std::string> waiting{id};
    while (!waiting.empty()) {
      const std::string next = std::move(waiting.back());
      waiting.pop_back();
      if (!kept_.insert(next).second) continue;
      // A barrier that tolerates failures defines an order, not a requirement.
      if (auto barrier = barriers_.find(next); barrier != barriers_.end()) {
        if (barrier->second->needs_success)
          waiting.insert(waiting.end(), barrier->second->needs.begin(), barrier->second->needs.end());
        continue;
      }
      auto action = actions_.find(next);
      if (action == actions_.end()) continue;
      const Action& kept = *action->second;
      waiting.insert(waiting.end(), kept.needs.begin(), kept.needs.end());
      if (kept.verb == Verb::Delete || kept.verb == Verb::Replace)
        waiting.insert(waiting.end(), kept.removed_after.begin(), kept.removed_after.end());
    }
  }

  bool has(const std::string& id) const { return kept_.count(id) != 0; }

  // The meeting points that are left, for what is left.
  std::vector<Barrier> barriers() {
    std::vector<Barrier> left;
    for (const Barrier& barrier : plan_.barriers) {  // each after those that it waits for
      if (!has(barrier.id)) continue;
      Barrier now{barrier.id, only_kept(barrier.needs), barrier.needs_success};
      if (now.needs.empty()) {
        kept_.erase(barrier.id);
      } else {
        left.push_back(std::move(now));
      }
    }
    return left;
  }

  std::vector<std::string> only_kept(std::vector<std::string> ids) const {
    std::erase_if(ids, [&](const std::string& id) { return !has(id); });
    return ids;
  }

 private:
  const Plan& plan_;
  std::map<std::string, const Action*> actions_;
  std::map<std::string, const Barrier*> barriers_;
  std::set<std::string> kept_;
};

}  // namespace

Status plan_targets(Draft& draft) {
  const std::set<std::string>& targets = draft.input.options.targets;
  if (targets.empty()) return {};
  if (Status known = check_targets(targets, names_in(draft)); !known.ok()) return known;
  Plan& plan = draft.plan;
  plan.partial = true;
  Selection selection(plan);
  for (const Action& action : plan.actions) {
    if (is_target(targets, action)) selection.add(action.id);
  }
  std::vector<Barrier> barriers = selection.barriers();
  std::vector<Action> kept;
  for (Action& action : plan.actions) {
    if (!selection.has(action.id)) {
      draft.left_out.insert(action.id);
      continue;
    }
    action.needs = selection.only_kept(std::move(action.needs));
    action.removed_after = selection.only_kept(std::move(action.removed_after));
    kept.push_back(std::move(action));
  }
  plan.actions = std::move(kept);
  plan.barriers = std::move(barriers);
  draft.resource_actions.clear();
  draft.step_actions.clear();
  if (!draft.left_out.empty())
    plan.notes.push_back(
        fmt::format("only what --target names, and what that needs: {} other change{} left out",
                    draft.left_out.size(), draft.left_out.size() == 1 ? " is" : "s are"));
  return {};
}

bool waits_for_left_out(const Draft& draft, const Json& value) {
  if (draft.left_out.empty()) return false;
  const std::vector<std::string> names = ir::unknowns_in(value);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return draft.left_out.count(split_unknown(name).owner) != 0;
  });
}

Result<Plan> make_destroy_plan(const Snapshot& snapshot, const std::set<std::string>& targets) {
  if (targets.empty()) return make_destroy_plan(snapshot);
  std::set<std::string> known;
  add_names(snapshot, known);
  if (Status found = check_targets(targets, known); !found.ok()) return found;
  std::map<std::string, std::vector<std::string>> users;
  std::map<std::string, std::string> why;  // of what goes
  std::vector<std::string> waiting;
  for (const auto& [address, record] : snapshot.resources) {
    for (const std::string& need : record.needs) users[need].push_back(address);
    if (!names_node(targets, address)) continue;
    why[address] = "destroy";
    waiting.push_back(address);
  }
  while (!waiting.empty()) {
    const std::string next = std::move(waiting.back());
    waiting.pop_back();
    for (const std::string& user : users[next]) {
      if (why.emplace(user, "it needs " + next).second) waiting.push_back(user);
    }
  }
  std::set<std::string> stay;
  for (const auto& [address, record] : snapshot.resources) {
    if (!why.count(address)) stay.insert(address);
  }
  if (stay.empty()) return make_destroy_plan(snapshot);
  Plan plan = removal_plan(snapshot, stay);
  plan.destroys = plan.partial = true;
  for (Action& action : plan.actions) action.why = why.at(action.id);
  if (!stay.empty())
    plan.notes.push_back(fmt::format("only what --target names, and what needs it: {} resource{}",
                                     stay.size(), stay.size() == 1 ? " stays" : "s stay"));
  return plan;
}

}  // namespace radl
