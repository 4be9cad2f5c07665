// What is not wanted any more.
#include <algorithm>
#include <set>
#include <tuple>

#include "runtime/plan/build.h"

namespace radl {

namespace {

std::string why_removed(const Draft& draft, const ResourceRecord& record) {
  if (record.kind != ResourceKind::Node) return "nothing needs it any more";
  size_t left = 0;
  for (const ir::Node& node : draft.input.program.nodes) left += node.system == record.system;
  if (left == 0) return "system '" + record.system + "' is not deployed any more";
  return "'" + record.system + "' is deployed " + std::to_string(left) + (left == 1 ? " time" : " times");
}

// What stays behind when a step is taken out of the file: nothing is undone by radlc's own choice.
std::string what_stays(const StepRecord& record) {
  if (record.kind == "training") return "its model and events stay where they are";
  std::string text;
  if (record.definition) {
    for (const Json& resource : record.definition->value("resources", Json::array())) {
      text +=
          (text.empty() ? "" : ", ") + resource.value("type", "") + " '" + resource.value("name", "") + "'";
    }
  }
  if (text.empty()) return "what it did on the node stays";
  return text + (text.find(',') == std::string::npos ? " stays" : " stay") + " on the node";
}

void forget_step(Draft& draft, const StepRecord& record, bool node_stays) {
  Action action;
  action.id = record.id;
  action.verb = Verb::Forget;
  action.is_step = true;
  action.step_kind = record.kind;
  action.nodes = record.nodes;
  action.summary = node_stays ? what_stays(record) : "";
  action.why = node_stays ? "no longer in the file" : "its node is not there any more";
  action.seconds = 0;
  draft.plan.actions.push_back(std::move(action));
}

// Of two systems with as many machines, one gone and one new, the one is most often the other under a new
// name.
void note_renames(Draft& draft, const std::map<std::string, std::vector<const ResourceRecord*>>& gone) {
  std::map<std::string, std::vector<const Desired*>> fresh;
  for (const Desired& desired : draft.desired.resources) {
    const Action* action = draft.resource_action(desired.address);
    if (desired.node && action && action->verb == Verb::Create)
      fresh[desired.node->system].push_back(&desired);
  }
  for (const auto& [old_name, records] : gone) {
    bool still_deployed =
        std::any_of(draft.input.program.nodes.begin(), draft.input.program.nodes.end(),
                    [&name = old_name](const ir::Node& node) { return node.system == name; });
    if (still_deployed) continue;
    for (const auto& [new_name, nodes] : fresh) {
      if (nodes.size() != records.size() || nodes[0]->provider != records[0]->provider) continue;
      draft.plan.notes.push_back("if '" + new_name + "' is '" + old_name +
                                 "' under a new name: `radlc state mv" + draft.input.options.project_words +
                                 " " + old_name + " " + new_name + "` keeps the nodes");
    }
  }
}

}  // namespace

Action removal(const ResourceRecord& record, std::string why) {
  Action action;
  action.id = record.address;
  action.verb = Verb::Delete;
  action.kind = record.kind;
  action.provider = record.provider;
  if (record.kind == ResourceKind::Node) action.nodes = {record.address};
  action.summary = record.provider + " " + record.id;
  action.why = std::move(why);
  action.seconds = 1;
  return action;
}

std::vector<const ResourceRecord*> in_removal_order(const Snapshot& snapshot,
                                                    const std::set<std::string>& except) {
  std::vector<const ResourceRecord*> records;
  for (const auto& [address, record] : snapshot.resources) {
    if (!except.count(address)) records.push_back(&record);
  }
  auto rank = [](const ResourceRecord* r) {
    int kind = r->kind == ResourceKind::Node ? 0 : r->kind == ResourceKind::Network ? 1 : 2;
    return std::make_tuple(kind, r->system, r->ordinal, r->address);
  };
  std::sort(records.begin(), records.end(), [&](auto* a, auto* b) { return rank(a) < rank(b); });
  return records;
}

void plan_removals(Draft& draft) {
  std::set<std::string> wanted, wanted_steps;
  for (const Desired& desired : draft.desired.resources) wanted.insert(desired.address);
  for (const ir::Step& step : draft.input.program.steps) wanted_steps.insert(step.id);
  const Snapshot& snapshot = draft.input.snapshot;
  std::map<std::string, std::vector<const ResourceRecord*>> gone;

  for (const auto& [id, record] : snapshot.steps) {
    if (wanted_steps.count(id)) continue;
    auto has = [&](const std::string& node) { return snapshot.resources.count(node) != 0; };
    bool on_wanted = std::any_of(record.nodes.begin(), record.nodes.end(),
                                 [&](const std::string& node) { return wanted.count(node) != 0; });
    bool on_present = std::any_of(record.nodes.begin(), record.nodes.end(), has);
    // With its last node a step's record goes by itself.
    if (on_wanted || !on_present) forget_step(draft, record, on_wanted);
  }
  for (const ResourceRecord* record : in_removal_order(snapshot, wanted)) {
    if (record->kind == ResourceKind::Node) gone[record->system].push_back(record);
    draft.resource_actions[record->address] = draft.plan.actions.size();
    draft.plan.actions.push_back(removal(*record, why_removed(draft, *record)));
  }
  note_renames(draft, gone);
}

}  // namespace radl
