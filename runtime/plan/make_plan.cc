// The construction of a plan: an ordered list of parts, each in a file of its own.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime/base/sudo_secret.h"
#include "runtime/plan/build.h"
#include "runtime/plan/graph.h"
#include "runtime/plan/step_facts.h"
#include "runtime/plan/values.h"

namespace radl {

std::string_view verb_name(Verb verb) {
  switch (verb) {
    case Verb::Create:
      return "create";
    case Verb::Update:
      return "update";
    case Verb::Replace:
      return "replace";
    case Verb::Delete:
      return "delete";
    case Verb::Run:
      return "run";
    case Verb::Forget:
      return "forget";
  }
  return "unknown";
}

std::string_view verb_mark(Verb verb) {
  switch (verb) {
    case Verb::Create:
      return "+";
    case Verb::Update:
      return "~";
    case Verb::Replace:
      return "-/+";
    case Verb::Delete:
      return "-";
    case Verb::Run:
      return ">";
    case Verb::Forget:
      return "x";
  }
  return "?";
}

const Action* Plan::find(const std::string& id) const {
  auto found =
      std::find_if(actions.begin(), actions.end(), [&](const Action& action) { return action.id == id; });
  return found == actions.end() ? nullptr : &*found;
}

std::map<std::string, std::string> fingerprints(const Snapshot& snapshot, const ir::Secrets& secrets) {
  std::map<std::string, std::string> result;
  for (const auto& [name, value] : secrets) {
    if (name != kSudoSecret) result[name] = secret_fingerprint(snapshot, value);
  }
  return result;
}

namespace {

Status check_replacements(const Draft& draft) {
  std::string unknown;
  for (const std::string& address : draft.input.options.replace) {
    bool wanted = std::any_of(draft.desired.resources.begin(), draft.desired.resources.end(),
                              [&](const Desired& desired) { return desired.wanted.address == address; });
    if (!wanted) unknown += (unknown.empty() ? "" : "\n") + ("--replace " + address + ": no such resource");
  }
  return unknown.empty() ? Status() : invalid(unknown);
}

// The future value, as far as it is known now.
Json foreseen(const Draft& draft, const Json& value) {
  auto unknown_value = [&](const std::string& name) -> std::optional<Json> {
    std::string owner = split_unknown(name).owner;
    if (draft.step_actions.count(owner)) return std::nullopt;
    const Action* action = draft.resource_action(owner);
    if (action) return std::nullopt;
    return known_value(draft.input.snapshot, name);
  };
  return ir::substitute(value, unknown_value, {});
}

void take_header(const PlanInput& input, Plan& plan) {
  plan.infrastructure = input.program.name;
  plan.source_digest = input.program.source_digest;
  plan.sources = input.program.sources;
  plan.lineage = input.snapshot.lineage;
  plan.serial = input.snapshot.serial;
  note_other_runs(input.snapshot, plan);
}

}  // namespace

// While another run is active, the state shows only an intermediate result.
void note_other_runs(const Snapshot& snapshot, Plan& plan) {
  if (!snapshot.copy_of.empty())
    plan.notes.push_back("this state is a copy of " + snapshot.copy_of +
                         "; this run changes the same resources");
  if (!snapshot.at_work.empty()) {
    plan.notes.push_back(snapshot.at_work + ", is running; this plan repeats what that run has not finished");
  } else if (snapshot.interrupted()) {
    plan.notes.push_back("an earlier run was interrupted; the next one looks first at the " +
                         std::to_string(snapshot.open_intents) + " things that it had begun");
  }
}

void plan_outputs(Draft& draft) {
  std::map<std::string, const OutputRecord*> before;
  for (const OutputRecord& output : draft.input.snapshot.outputs) before[output.name] = &output;
  for (const ir::Output& output : draft.input.program.outputs) {
    OutputChange change;
    change.name = output.name;
    change.sensitive = output.sensitive;
    const Json after = foreseen(draft, output.value);
    if (waits_for_left_out(draft, after)) {
      before.erase(output.name);
      continue;
    }
    change.after = output.sensitive ? Json() : after;
    auto known = before.find(output.name);
    if (known == before.end()) {
      draft.plan.outputs.push_back(std::move(change));
      continue;
    }
    change.verb = Verb::Update;
    change.before = known->second->value;
    bool same = change.before == change.after && known->second->sensitive == output.sensitive;
    if (!same) draft.plan.outputs.push_back(std::move(change));
    before.erase(known);
  }
  std::set<std::string> declared;
  for (const ir::Output& output : draft.input.program.outputs) declared.insert(output.name);
  for (const OutputRecord& output : draft.input.snapshot.outputs) {
    if (!declared.count(output.name)) {
      draft.plan.outputs.push_back({output.name, Verb::Delete, output.value, nullptr, output.sensitive});
    }
  }
}

Result<Plan> make_plan(const PlanInput& input) {
  Result<DesiredResources> desired = desired_resources(input);
  if (!desired.ok()) return desired.status();
  Draft draft{input, std::move(*desired), {}, {}, {}, {}, {}, {}};
  if (Status known = check_replacements(draft); !known.ok()) return known;
  take_header(input, draft.plan);
  draft.plan.moves = input.moves;
  for (const auto& [cloud, survey] : input.surveys) {
    if (draft.desired.clouds.count(cloud)) draft.plan.surveys[cloud] = survey;
  }
  plan_resources(draft);
  plan_steps(draft);
  plan_removals(draft);
  plan_edges(draft);
  plan_drains(draft);
  if (Status fits = plan_scaling(draft); !fits.ok()) return fits;
  if (Status left = plan_targets(draft); !left.ok()) return left;
  if (Status kept = check_protected(draft); !kept.ok()) return kept;
  if (Status ordered = plan_order(draft); !ordered.ok()) return ordered;
  plan_protections(draft);
  plan_outputs(draft);
  plan_drift(draft);
  plan_costs(draft);
  add_totals(draft.plan, draft.graph);
  draft.plan.notes.insert(draft.plan.notes.end(), draft.desired.notes.begin(), draft.desired.notes.end());
  plan_trust(draft);
  return std::move(draft.plan);
}

Plan make_destroy_plan(const Snapshot& snapshot) {
  Plan plan = removal_plan(snapshot, {});
  plan.destroys = true;
  for (const std::string& place : bucket_places(snapshot))
    plan.notes.push_back("models and checkpoints in " + place + " stay: they are yours to remove");
  for (const auto& [id, record] : snapshot.steps) {
    const LeftRunning left = left_running(record, snapshot);
    std::set<std::string> nodes(left.newest.begin(), left.newest.end());
    nodes.insert(left.older.begin(), left.older.end());
    auto by = snapshot.supervised.find(id);
    if (by != snapshot.supervised.end())
      plan.notes.push_back(fmt::format("{} runs ({}): it is ended", id, by->second));
    else if (!nodes.empty())
      plan.notes.push_back(
          fmt::format("{} may still run on {}: it is ended with its nodes", id, fmt::join(nodes, ", ")));
  }
  for (const OutputRecord& output : snapshot.outputs) {
    plan.outputs.push_back({output.name, Verb::Delete, output.value, nullptr, output.sensitive});
  }
  return plan;
}

}  // namespace radl
