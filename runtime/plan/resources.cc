// Decides which resources are created, updated or replaced.
#include <algorithm>

#include "runtime/plan/build.h"
#include "runtime/plan/fields.h"
#include "runtime/plan/values.h"

namespace radl {

namespace {

// A cloud's summary names the offer that it would choose; this resource may have been made from another.
std::string summary_of(const Desired& desired) {
  std::string text = desired.wanted.summary;
  if (desired.offer == desired.wanted.chosen) return text;
  const std::string& chosen = desired.wanted.offers[desired.wanted.chosen].name;
  const size_t at = chosen.empty() ? text.npos : text.find(chosen);
  if (at != text.npos) text.replace(at, chosen.size(), desired.wanted.offers[desired.offer].name);
  return text;
}

bool same_elements(std::vector<std::string> a, std::vector<std::string> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

Action make_action(const Desired& desired, Verb verb, std::string why) {
  const Wanted& wanted = desired.wanted;
  Action action;
  action.id = wanted.address;
  action.verb = verb;
  action.type = wanted.type;
  action.cloud = desired.cloud;
  if (!wanted.node.empty()) action.nodes = {wanted.node};
  action.summary = summary_of(desired);
  action.why = std::move(why);
  action.spec = desired.spec();
  if (verb != Verb::Update && desired.has_offers()) {
    action.base_spec = wanted.spec;
    action.offers = wanted.offers;
    action.chosen = desired.offer;
  }
  action.uses = wanted.references;
  action.price_per_hour = desired.price();
  action.seconds = wanted.seconds;
  return action;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// From the current refresh, else from the last recorded observation.
bool found_stopped(const Draft& draft, const ResourceRecord& record) {
  const Json* attributes = &record.attributes;
  if (const Observed* observed = draft.input.observed) {
    auto seen = observed->attributes.find(record.address);
    if (seen != observed->attributes.end()) attributes = &seen->second;
  }
  return record.is_node() && is_stopped(*attributes);
}

// Referenced resources that this plan recreates. A newly added reference is a change of the resource's own
// spec.
std::vector<std::string> made_anew_below(const Draft& draft, const Desired& desired,
                                         const ResourceRecord& record) {
  std::vector<std::string> anew;
  for (const std::string& need : desired.wanted.references) {
    const bool had = std::find(record.needs.begin(), record.needs.end(), need) != record.needs.end();
    if (had && draft.is_made_anew(need)) anew.push_back(need);
  }
  return anew;
}

// The impact of recreated references on the resource; nullopt: none. A replacement removes the old resource
// before creating the new one, so its users must be removed first.
std::optional<Impact> impact_of_new(const Draft& draft, const Desired& desired, const std::string& need) {
  const Action& action = *draft.resource_action(need);
  const Cloud& cloud = *draft.input.clouds.find(desired.cloud);
  std::optional<Impact> impact = cloud.impact_of_lost(desired.wanted.type, action.type);
  if (impact && action.verb == Verb::Replace) impact->kind = Impact::Kind::Replace;
  return impact;
}

// A replacement that has nothing to do with the resource's own spec; empty: none.
std::string outer_reason(const Draft& draft, const Desired& desired, const ResourceRecord& record) {
  if (draft.input.options.replace.count(desired.wanted.address)) return "asked for with --replace";
  if (record.status == ResourceStatus::Tainted) return "it did not come up, or was marked to be replaced";
  if (record.status == ResourceStatus::Deleting) return "its removal was begun and not finished";
  if (auto broken = draft.broken.find(desired.wanted.address); broken != draft.broken.end())
    return "it is broken" + (broken->second.empty() ? "" : ": " + broken->second);
  if (record.cloud != desired.cloud) return "moves from " + record.cloud + " to " + desired.cloud;
  if (record.type != desired.wanted.type)
    return "it becomes " + desired.wanted.type + ", and was " + record.type;
  for (const std::string& need : made_anew_below(draft, desired, record)) {
    const std::optional<Impact> impact = impact_of_new(draft, desired, need);
    if (impact && impact->kind == Impact::Kind::Replace) return need + " is replaced";
  }
  return "";
}

void add(Draft& draft, Action action) {
  draft.resource_actions[action.id] = draft.plan.actions.size();
  draft.plan.actions.push_back(std::move(action));
}

// A resource keeps the offer it was created with while that is available, whatever is preferred now: no
// machine is replaced because of a price.
void keep_offer(Desired& desired, const Json& recorded) {
  const std::vector<Offer>& offers = desired.wanted.offers;
  auto has = [&](const Offer& offer) { return laid_over(recorded, offer.spec) == recorded; };
  if (offers.empty() || has(offers[desired.offer])) return;
  auto own = std::find_if(offers.begin(), offers.end(), has);
  if (own != offers.end()) desired.offer = static_cast<size_t>(own - offers.begin());
}

// Compares an existing resource with the request.
class Comparison {
 public:
  Comparison(Draft& draft, Desired& desired, const ResourceRecord& record)
      : draft_(draft), desired_(desired), record_(record), cloud_(*draft.input.clouds.find(desired.cloud)) {}

  void run() {
    const std::string outer = outer_reason(draft_, desired_, record_);
    stopped_ = found_stopped(draft_, record_);
    keep_offer(desired_, record_.spec);
    look();
    const bool moved = !same_elements(desired_.wanted.references, record_.needs);
    if (outer.empty()) look_below();
    if (leaves_.empty() && outer.empty() && !moved && attached_.empty() && marks_.empty()) {
      // Only what was seen makes it equal: the record is behind.
      if (draft_.input.observed && !differing_leaves(record_.spec, desired_.spec()).empty())
        draft_.plan.as_found[desired_.wanted.address] = desired_.spec();
      return;
    }
    const bool same_kind = record_.cloud == desired_.cloud && record_.type == desired_.wanted.type;
    Impact impact{Impact::Kind::InPlace, ""};
    if (!leaves_.empty() && same_kind) impact = cloud_.impact(record_.type, before_, after_);
    const bool replaces = !outer.empty() || impact.kind == Impact::Kind::Replace;
    if (replaces && desired_.offer != desired_.wanted.chosen) {
      desired_.offer = desired_.wanted.chosen;  // a replacement uses the currently preferred offer
      look();
    }
    std::vector<FieldChange> changes = fields(same_kind, impact.kind);
    Action action = make_action(desired_, replaces ? Verb::Replace : Verb::Update, "");
    action.why = !outer.empty() ? outer
                 : replaces     ? why_replaced(changes, impact)
                                : why_updated(impact, moved);
    if (moved && !replaces) changes.push_back({"references", record_.needs, desired_.wanted.references});
    if (!replaces) add_outer_changes(changes);
    action.changes = std::move(changes);
    if (!replaces && impact.kind == Impact::Kind::InPlace) action.seconds = 1;
    if (!replaces && (stopped_ || impact.kind == Impact::Kind::Restart))
      draft_.started.insert(desired_.wanted.address);
    add(draft_, std::move(action));
  }

 private:
  // As it is: as recorded, with what was seen of it over that. Its state is a field like any other.
  void look() {
    before_ = record_.spec;
    if (const Observed* observed = draft_.input.observed) {
      auto seen = observed->specs.find(record_.address);
      if (seen != observed->specs.end()) before_ = laid_over(before_, seen->second);
    }
    after_ = desired_.spec();
    if (stopped_) {
      before_["state"] = "stopped";
      after_["state"] = "running";
    }
    leaves_ = differing_leaves(before_, after_);
  }

  // Changes by others outside the spec: a referenced resource was deleted, or radlc's tags were changed.
  void look_below() {
    for (const std::string& need : made_anew_below(draft_, desired_, record_))
      if (impact_of_new(draft_, desired_, need)) attached_.push_back(need);
    if (!draft_.input.observed) return;
    auto seen = draft_.input.observed->marks.find(record_.address);
    if (seen != draft_.input.observed->marks.end()) marks_ = seen->second;
  }

  void add_outer_changes(std::vector<FieldChange>& changes) const {
    for (const std::string& need : attached_) changes.push_back({need, "gone", "recreated"});
    for (const Change& mark : marks_)
      changes.push_back({std::string(kMarkField) + mark.what, mark.before, mark.after});
  }

  // The impact of each field alone; a field only counts if it causes the combined impact.
  std::vector<FieldChange> fields(bool same_kind, Impact::Kind whole) const {
    std::vector<FieldChange> changes;
    for (const FieldDifference& leaf : leaves_) {
      FieldChange change{leaf.name, leaf.before, leaf.after};
      Impact::Kind alone = Impact::Kind::InPlace;
      if (same_kind) alone = cloud_.impact(record_.type, before_, with_leaf(before_, leaf)).kind;
      change.forces_replacement = alone == Impact::Kind::Replace;
      change.forces_restart = alone == Impact::Kind::Restart && whole == Impact::Kind::Restart;
      changes.push_back(std::move(change));
    }
    return changes;
  }

  std::string why_replaced(const std::vector<FieldChange>& changes, const Impact& impact) const {
    std::vector<std::string> forcing, all;
    for (const FieldChange& change : changes) {
      all.push_back(change.field);
      if (change.forces_replacement) forcing.push_back(change.field);
    }
    std::string text = forcing == std::vector<std::string>{"state"}
                           ? "it is stopped, and " + desired_.cloud + " cannot start it again"
                           : joined(forcing.empty() ? all : forcing) + " cannot change in place";
    return impact.why.empty() ? text : text + ": " + impact.why;
  }

  // Separates changes requested by the file from changes made by others.
  std::string why_updated(const Impact& impact, bool moved) const {
    std::vector<std::string> asked, drifted;
    std::set<std::string> names;
    for (const FieldDifference& leaf : differing_leaves(record_.spec, desired_.spec()))
      names.insert(leaf.name);
    for (const FieldDifference& leaf : leaves_) {
      if (stopped_ && leaf.name == "state") continue;
      (names.count(leaf.name) ? asked : drifted).push_back(leaf.name);
    }
    std::vector<std::string> parts;
    if (stopped_) parts.push_back("it is stopped");
    if (!asked.empty()) parts.push_back(joined(asked) + " changed");
    if (!drifted.empty()) parts.push_back(joined(drifted) + " changed outside of radlc");
    if (moved) parts.push_back("a dependency changed");
    for (const std::string& need : attached_) parts.push_back("uses " + need + ", which is replaced");
    if (!marks_.empty()) parts.push_back("radlc's tags changed outside of radlc");
    if (impact.kind == Impact::Kind::Restart && !stopped_)
      parts.push_back("it is restarted" + (impact.why.empty() ? "" : ": " + impact.why));
    return joined(parts);
  }

  Draft& draft_;
  Desired& desired_;
  const ResourceRecord& record_;
  Cloud& cloud_;
  bool stopped_ = false;
  Json before_, after_;
  std::vector<FieldDifference> leaves_;
  std::vector<std::string> attached_;  // replaced references, attached in place
  std::vector<Change> marks_;          // radlc's own tags: current -> desired
};

}  // namespace

void plan_resources(Draft& draft) {
  std::set<std::string> gone;
  if (const Observed* observed = draft.input.observed) {
    for (const Drift& drift : observed->resources) {
      if (drift.what == "gone") gone.insert(drift.address);
      if (drift.what == "broken") draft.broken[drift.address] = drift.detail;
    }
  }
  for (Desired& desired : draft.desired.resources) {
    auto record = draft.input.snapshot.resources.find(desired.wanted.address);
    if (record == draft.input.snapshot.resources.end()) {
      add(draft, make_action(desired, Verb::Create, "new"));
    } else if (gone.count(desired.wanted.address)) {
      add(draft, make_action(desired, Verb::Create, "it is gone, removed from outside"));
    } else {
      Comparison(draft, desired, record->second).run();
    }
  }
}

}  // namespace radl
