// Changes made outside radlc, and resources that could not be inspected.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/text.h"
#include "runtime/clouds/rules_of_others.h"
#include "runtime/plan/build.h"
#include "runtime/plan/fields.h"
#include "runtime/plan/ordinals.h"

namespace radl {

namespace {

// The drift entry of a resource, added if missing.
Drift& drift_of(std::vector<Drift>& drift, const std::string& address) {
  auto known = std::lower_bound(drift.begin(), drift.end(), address,
                                [](const Drift& one, const std::string& name) { return one.address < name; });
  if (known == drift.end() || known->address != address)
    known = drift.insert(known, {address, "changed", {}, ""});
  return *known;
}

// Resources whose spec is not what was applied last, as far as their clouds can see it.
void add_spec_drift(const PlanInput& input, std::vector<Drift>& drift) {
  for (const auto& [address, seen] : input.observed->specs) {
    auto record = input.snapshot.resources.find(address);
    if (record == input.snapshot.resources.end()) continue;
    const Json now = laid_over(record->second.spec, seen);
    std::vector<FieldChange> fields = differing_fields(record->second.spec, now);
    if (fields.empty()) continue;
    Drift& known = drift_of(drift, address);
    for (FieldChange& field : fields) {
      const bool there = std::any_of(known.changes.begin(), known.changes.end(),
                                     [&](const Change& change) { return change.what == field.field; });
      if (!there) known.changes.push_back({address, field.field, field.after, field.before, ""});
    }
  }
}

// Resources whose tags of radlc's own are not as radlc writes them.
void add_mark_drift(const Observed& observed, std::vector<Drift>& drift) {
  for (const auto& [address, marks] : observed.marks) {
    Drift& one = drift_of(drift, address);
    for (const Change& mark : marks)
      one.changes.push_back({address, kMarkField + mark.what, mark.before, mark.after, ""});
  }
}

// One note for all machines that have the same.
void note_rules_of_others(const Observed& observed, Plan& plan) {
  std::map<std::vector<std::string>, std::vector<std::string>> machines;  // by their rules
  for (const Drift& one : observed.resources) {
    if (one.what != kRulesOfOthers) continue;
    std::vector<std::string> rules;
    for (const Change& rule : one.changes) rules.push_back(rule.what);
    machines[rules].push_back(one.address);
  }
  for (const auto& [rules, addresses] : machines)
    plan.notes.push_back(fmt::format("{}: network access that radlc neither controls nor changes: {}",
                                     names_together(addresses), join(rules, "; ")));
}

}  // namespace

void plan_drift(Draft& draft) {
  const Observed* observed = draft.input.observed;
  if (!observed) return;
  for (const Drift& drift : observed->resources)
    if (drift.what != kRulesOfOthers) draft.plan.drift.push_back(drift);
  add_spec_drift(draft.input, draft.plan.drift);
  add_mark_drift(*observed, draft.plan.drift);
  note_rules_of_others(*observed, draft.plan);
  for (const auto& [id, changes] : observed->steps) {
    if (!changes.empty()) draft.plan.drift.push_back({id, "changed", changes, ""});
  }
  for (const Drift& drift : observed->resources) {
    if (drift.what != "unreachable") continue;
    draft.plan.notes.push_back(drift.address +
                               " runs but does not respond; the plan leaves it unchanged; `--replace " +
                               drift.address + "` replaces it");
  }
  for (const auto& [what, why] : observed->unknown) draft.plan.unseen[what] = why;
  for (const Drift& drift : observed->resources) {
    if (drift.what == "unreachable") draft.plan.unseen[drift.address] = drift.detail;
  }
  // Resources that are replaced or removed need not be inspected.
  std::erase_if(draft.plan.unseen, [&](const auto& entry) {
    const Action* action = draft.plan.find(entry.first);
    return action && action->verb != Verb::Update;
  });
  std::map<std::string, std::string> unseen = draft.plan.unseen;
  std::erase_if(unseen, [&](const auto& entry) { return !observed->unknown.count(entry.first); });  // told
  for (std::string& line : unseen_told(unseen)) draft.plan.notes.push_back(std::move(line));
}

}  // namespace radl
