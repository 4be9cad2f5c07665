// Which resources are made, changed, replaced.
#include <algorithm>

#include "runtime/plan/build.h"
#include "runtime/plan/values.h"

namespace radl {

std::map<std::string, Json> flatten(const Json& value, const std::string& prefix) {
  std::map<std::string, Json> leaves;
  bool inner = value.is_object() && !value.empty() && !ir::is_unknown(value) && !ir::is_secret(value) &&
               !ir::is_join(value);
  if (!inner) {
    if (!prefix.empty()) leaves[prefix] = value;
    return leaves;
  }
  for (const auto& [key, part] : value.items()) {
    leaves.merge(flatten(part, prefix.empty() ? key : prefix + "." + key));
  }
  return leaves;
}

std::vector<FieldChange> differing_fields(const Json& before, const Json& after) {
  std::vector<FieldChange> changes;
  std::map<std::string, Json> old_leaves = flatten(before), new_leaves = flatten(after);
  for (const auto& [field, value] : old_leaves) {
    auto now = new_leaves.find(field);
    if (now == new_leaves.end()) {
      changes.push_back({field, value, nullptr, false});
    } else if (now->second != value) {
      changes.push_back({field, value, now->second, false});
    }
  }
  for (const auto& [field, value] : new_leaves) {
    if (!old_leaves.count(field)) changes.push_back({field, nullptr, value, false});
  }
  std::sort(changes.begin(), changes.end(),
            [](const FieldChange& a, const FieldChange& b) { return a.field < b.field; });
  return changes;
}

namespace {

Action make_action(const Desired& desired, Verb verb, std::string why) {
  Action action;
  action.id = desired.address;
  action.verb = verb;
  action.kind = desired.kind;
  action.provider = desired.provider;
  if (desired.kind == ResourceKind::Node) action.nodes = {desired.address};
  action.summary = desired.summary;
  action.why = std::move(why);
  action.spec = desired.spec;
  action.uses = desired.needs;
  action.price_per_hour = desired.quote.price_per_hour;
  action.seconds = desired.kind == ResourceKind::Node ? desired.quote.seconds_to_ready : 0;
  return action;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

bool is_gone(const Draft& draft, const std::string& address) {
  const Observed* observed = draft.input.observed;
  if (!observed) return false;
  return std::any_of(observed->resources.begin(), observed->resources.end(),
                     [&](const Drift& drift) { return drift.address == address && drift.what == "gone"; });
}

// As a refresh has just seen it, else as it was when somebody looked last.
bool found_stopped(const Draft& draft, const ResourceRecord& record) {
  const Json* attributes = &record.attributes;
  if (const Observed* observed = draft.input.observed) {
    auto seen = observed->attributes.find(record.address);
    if (seen != observed->attributes.end()) attributes = &seen->second;
  }
  return record.kind == ResourceKind::Node && is_stopped(*attributes);
}

// A replacement that has nothing to do with the resource's own spec; empty: none.
std::string outer_reason(const Draft& draft, const Desired& desired, const ResourceRecord& record) {
  if (draft.input.options.replace.count(desired.address)) return "asked for with --replace";
  if (record.status == ResourceStatus::Tainted) return "it did not come up, or was marked to be replaced";
  if (record.status == ResourceStatus::Deleting) return "its removal was begun and not finished";
  if (record.provider != desired.provider) return "moves from " + record.provider + " to " + desired.provider;
  for (const std::string& need : desired.needs) {
    if (draft.is_made_anew(need)) return need + " is made anew";
  }
  return "";
}

void add(Draft& draft, Action action) {
  draft.resource_actions[action.id] = draft.plan.actions.size();
  draft.plan.actions.push_back(std::move(action));
}

void compare(Draft& draft, const Desired& desired, const ResourceRecord& record) {
  std::vector<FieldChange> changes = differing_fields(record.spec, desired.spec);
  std::string reason = outer_reason(draft, desired, record);
  bool stopped = found_stopped(draft, record);
  if (stopped) changes.push_back({"state", "stopped", "running", false});
  if (changes.empty() && reason.empty()) return;
  const Provider* provider = draft.input.providers.find(desired.provider);
  std::vector<std::string> forcing;
  for (FieldChange& change : changes) {
    std::string top = change.field.substr(0, change.field.find('.'));
    change.forces_replacement = !provider->updates_in_place(desired.kind, top);
    if (change.forces_replacement) forcing.push_back(change.field);
  }
  bool replaces = !reason.empty() || !forcing.empty();
  if (reason.empty()) {
    std::vector<std::string> fields;
    for (const FieldChange& change : changes) {
      if (change.field != "state") fields.push_back(change.field);
    }
    reason = !forcing.empty() ? joined(forcing) + " cannot change in place" : stopped ? "it is stopped" : "";
    if (forcing.empty() && !fields.empty())
      reason += (reason.empty() ? "" : ", ") + joined(fields) + " changed";
    if (stopped && forcing == std::vector<std::string>{"state"})
      reason = "it is stopped, and " + desired.provider + " cannot start it again";
  }
  Action action = make_action(desired, replaces ? Verb::Replace : Verb::Update, reason);
  action.changes = std::move(changes);
  if (!replaces) action.seconds = 1;
  if (!replaces && stopped) draft.started.insert(desired.address);
  add(draft, std::move(action));
}

}  // namespace

void plan_resources(Draft& draft) {
  for (const Desired& desired : draft.desired.resources) {
    auto record = draft.input.snapshot.resources.find(desired.address);
    if (record == draft.input.snapshot.resources.end()) {
      add(draft, make_action(desired, Verb::Create, "new"));
    } else if (is_gone(draft, desired.address)) {
      add(draft, make_action(desired, Verb::Create, "it is gone, removed from outside"));
    } else {
      compare(draft, desired, record->second);
    }
  }
}

}  // namespace radl
