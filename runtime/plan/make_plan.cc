// The construction of a plan: an ordered list of parts, each in a file of its own.
#include <algorithm>
#include <set>

#include "runtime/plan/build.h"
#include "runtime/plan/graph.h"
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
  for (const auto& [name, value] : secrets) result[name] = secret_fingerprint(snapshot, value);
  return result;
}

namespace {

Status check_replacements(const Draft& draft) {
  std::string unknown;
  for (const std::string& address : draft.input.options.replace) {
    bool wanted = std::any_of(draft.desired.resources.begin(), draft.desired.resources.end(),
                              [&](const Desired& desired) { return desired.address == address; });
    if (!wanted)
      unknown += (unknown.empty() ? "" : "\n") + ("--replace " + address + ": there is no such resource");
  }
  return unknown.empty() ? Status() : invalid(unknown);
}

// The value as it will be, as far as it is known now.
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

void add_totals(PlanTotals& totals, const Action& action) {
  switch (action.verb) {
    case Verb::Create:
      ++totals.create;
      break;
    case Verb::Update:
      ++totals.update;
      break;
    case Verb::Replace:
      ++totals.replace;
      break;
    case Verb::Delete:
      ++totals.remove;
      break;
    case Verb::Run:
      ++totals.run;
      break;
    case Verb::Forget:
      ++totals.forget;
      break;
  }
  if (!action.seconds) totals.seconds_complete = false;
}

void add_seconds(Plan& plan) {
  Result<PlanGraph> graph = plan_graph(plan);
  if (!graph.ok()) return;
  plan.totals.seconds = graph->dag.longest_path([&](Dag::Id id) {
    const PlanVertex& vertex = graph->vertices[id];
    if (vertex.phase == PlanVertex::Phase::Barrier) return 0.0;
    const Action& action = plan.actions[vertex.index];
    // A removal takes about a second with every provider that we know.
    if (vertex.phase == PlanVertex::Phase::Remove) return 1.0;
    return action.seconds.value_or(0);
  });
}

void take_header(const PlanInput& input, Plan& plan) {
  plan.infrastructure = input.program.name;
  plan.source_digest = input.program.source_digest;
  plan.sources = input.program.sources;
  plan.lineage = input.snapshot.lineage;
  plan.serial = input.snapshot.serial;
  plan.catalog = input.options.catalog_date;
  if (input.snapshot.open_intents) {
    plan.notes.push_back("an earlier run was interrupted; apply looks first at the " +
                         std::to_string(input.snapshot.open_intents) + " things that it had begun");
  }
}

}  // namespace

void plan_outputs(Draft& draft) {
  std::map<std::string, const OutputRecord*> before;
  for (const OutputRecord& output : draft.input.snapshot.outputs) before[output.name] = &output;
  for (const ir::Output& output : draft.input.program.outputs) {
    OutputChange change;
    change.name = output.name;
    change.sensitive = output.sensitive;
    change.after = output.sensitive ? Json() : foreseen(draft, output.value);
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

void plan_drift(Draft& draft) {
  const Observed* observed = draft.input.observed;
  if (!observed) return;
  draft.plan.drift = observed->resources;
  for (const auto& [id, changes] : observed->steps) {
    if (!changes.empty()) draft.plan.drift.push_back({id, "changed", changes, ""});
  }
  for (const Drift& drift : observed->resources) {
    if (drift.what != "unreachable") continue;
    draft.plan.notes.push_back(drift.address +
                               " runs but does not answer, which is left as it is; `--replace " +
                               drift.address + "` makes it anew");
  }
  for (const auto& [what, why] : observed->unknown) draft.plan.unseen[what] = why;
  for (const Drift& drift : observed->resources) {
    if (drift.what == "unreachable") draft.plan.unseen[drift.address] = drift.detail;
  }
  // What is made anew, or goes, need not be seen.
  std::erase_if(draft.plan.unseen, [&](const auto& entry) {
    const Action* action = draft.plan.find(entry.first);
    return action && action->verb != Verb::Update;
  });
  for (const auto& [what, why] : draft.plan.unseen) {
    if (!observed->unknown.count(what)) continue;  // told above
    draft.plan.notes.push_back(what + " could not be looked at: " + why);
  }
}

void plan_costs(Draft& draft) {
  std::map<std::pair<std::string, int>, NodeCost> costs;  // by system and ordinal
  for (const auto& [address, record] : draft.input.snapshot.resources) {
    if (record.kind != ResourceKind::Node) continue;
    costs[{record.system, record.ordinal}] = {address, record.provider, record.price_per_hour, 0};
  }
  for (const Desired& desired : draft.desired.resources) {
    if (!desired.node) continue;
    NodeCost& cost = costs[{desired.node->system, desired.node->ordinal}];
    cost.address = desired.address;
    cost.machine = desired.provider;
    const std::string& type = desired.quote.instance_type;
    if (!type.empty() && type != desired.provider) cost.machine += " " + type;
    cost.after = desired.quote.price_per_hour;
    draft.plan.totals.currency = desired.quote.currency;
  }
  for (auto& [place, cost] : costs) {
    draft.plan.totals.price_per_hour_before += cost.before;
    draft.plan.totals.price_per_hour += cost.after;
    draft.plan.costs.push_back(std::move(cost));
  }
}

void plan_totals(Draft& draft) {
  PlanTotals& totals = draft.plan.totals;
  for (const Action& action : draft.plan.actions) add_totals(totals, action);
  add_seconds(draft.plan);
}

Result<Plan> make_plan(const PlanInput& input) {
  Result<DesiredResources> desired = desired_resources(input.program, input.providers);
  if (!desired.ok()) return desired.status();
  Draft draft{input, std::move(*desired), {}, {}, {}};
  if (Status known = check_replacements(draft); !known.ok()) return known;
  take_header(input, draft.plan);
  plan_resources(draft);
  plan_steps(draft);
  plan_removals(draft);
  plan_edges(draft);
  if (Status ordered = plan_order(draft); !ordered.ok()) return ordered;
  plan_outputs(draft);
  plan_drift(draft);
  plan_costs(draft);
  plan_totals(draft);
  draft.plan.notes.insert(draft.plan.notes.end(), draft.desired.notes.begin(), draft.desired.notes.end());
  return std::move(draft.plan);
}

Plan make_destroy_plan(const Snapshot& snapshot) {
  Plan plan;
  plan.infrastructure = snapshot.name;
  plan.destroys = true;
  plan.source_digest = snapshot.source_digest;
  plan.lineage = snapshot.lineage;
  plan.serial = snapshot.serial;
  for (const ResourceRecord* record : in_removal_order(snapshot, {})) {
    plan.actions.push_back(removal(*record, "destroy"));
    if (record->kind != ResourceKind::Node) continue;
    plan.costs.push_back({record->address, record->provider, record->price_per_hour, 0});
    plan.totals.price_per_hour_before += record->price_per_hour;
    plan.totals.currency = record->currency;
  }
  for (const OutputRecord& output : snapshot.outputs) {
    plan.outputs.push_back({output.name, Verb::Delete, output.value, nullptr, output.sensitive});
  }
  removal_edges(snapshot, plan);
  for (const Action& action : plan.actions) add_totals(plan.totals, action);
  add_seconds(plan);
  return plan;
}

}  // namespace radl
