// What is not wanted any more.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "runtime/plan/build.h"
#include "runtime/plan/step_facts.h"

namespace radl {

namespace {

std::string why_removed(const Draft& draft, const ResourceRecord& record) {
  if (!record.is_node()) return "nothing needs it any more";
  size_t left = 0;
  for (const ir::Node& node : draft.input.program.nodes) left += node.system == record.system;
  if (auto farm = draft.input.options.farm_systems.find(record.system);
      farm != draft.input.options.farm_systems.end())
    return farm->second;
  if (draft.input.options.scaled && draft.input.options.scaled->count(record.system))
    return fmt::format("'{}' has {} by `radlc scale`", record.system, left);
  if (left == 0) return "system '" + record.system + "' is not deployed any more";
  return "'" + record.system + "' is deployed " + std::to_string(left) + (left == 1 ? " time" : " times");
}

// What remains if a step is removed from the file: radlc undoes nothing on its own.
std::string what_stays(const StepRecord& record, const std::vector<std::string>& stopped) {
  if (record.kind == "training") return "its model and events here stay; its files on its nodes are removed";
  if (record.kind == "program") return "its results stay; its files on its nodes are removed";
  std::string text;
  if (record.definition) {
    for (const Json& resource : record.definition->value("resources", Json::array())) {
      text +=
          (text.empty() ? "" : ", ") + resource.value("type", "") + " '" + resource.value("name", "") + "'";
      if (resource.value("type", "") != "service") continue;
      const bool stops =
          std::find(stopped.begin(), stopped.end(), resource.value("name", "")) != stopped.end();
      text += stops ? " (stopped)" : " (keeps running)";
    }
  }
  if (text.empty()) return "its changes on the node stay";
  return text + (text.find(',') == std::string::npos ? " stays" : " stay") + " on the node";
}

void forget_step(Draft& draft, const StepRecord& record, bool node_stays) {
  Action action;
  action.id = record.id;
  action.verb = Verb::Forget;
  action.is_step = true;
  action.step_kind = record.kind;
  action.nodes = record.nodes;
  const std::vector<std::string> stopped =
      node_stays ? services_left(record, draft.input.program) : std::vector<std::string>();
  if (!stopped.empty()) action.spec = {{"stops", stopped}};
  action.summary = node_stays ? what_stays(record, stopped) : "";
  action.why = node_stays || record.nodes.empty() ? "no longer in the file" : "its node no longer exists";
  const LeftRunning left = left_running(record, draft.input.snapshot);
  for (const auto* nodes : {&left.newest, &left.older}) {
    for (const std::string& node : *nodes) {
      if (std::find(action.ends.begin(), action.ends.end(), node) == action.ends.end())
        action.ends.push_back(node);
    }
  }
  if (!action.ends.empty())
    action.why += fmt::format("; it may still run on {} and is ended there", fmt::join(action.ends, ", "));
  action.seconds = 0;
  draft.plan.actions.push_back(std::move(action));
}

// If one system is gone and a new one has the same number of machines, it was probably
// renamed.
void note_renames(Draft& draft, const std::map<std::string, std::vector<const ResourceRecord*>>& gone) {
  if (gone.empty()) return;
  std::map<std::string, std::vector<const Desired*>> fresh;
  for (const Desired& desired : draft.desired.resources) {
    const Action* action = draft.resource_action(desired.wanted.address);
    if (desired.node && action && action->verb == Verb::Create)
      fresh[desired.node->system].push_back(&desired);
  }
  for (const auto& [old_name, records] : gone) {
    bool still_deployed =
        std::any_of(draft.input.program.nodes.begin(), draft.input.program.nodes.end(),
                    [&name = old_name](const ir::Node& node) { return node.system == name; });
    if (still_deployed) continue;
    for (const auto& [new_name, nodes] : fresh) {
      if (nodes.size() != records.size() || nodes[0]->cloud != records[0]->cloud) continue;
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
  action.type = record.type;
  action.cloud = record.cloud;
  if (record.is_node()) action.nodes = {record.address};
  action.summary = record.cloud + " " + record.id;
  action.why = std::move(why);
  action.seconds = 1;
  return action;
}

std::vector<const ResourceRecord*> in_removal_order(const Snapshot& snapshot,
                                                    const std::set<std::string>& except) {
  auto earlier = [](const ResourceRecord* a, const ResourceRecord* b) {
    if (a->is_node() != b->is_node()) return a->is_node();
    return std::tie(a->system, a->ordinal, a->address) < std::tie(b->system, b->ordinal, b->address);
  };
  std::map<std::string, size_t> users;  // of what is to be removed: how many stand before it
  for (const auto& [address, record] : snapshot.resources) {
    if (!except.count(address)) users.emplace(address, 0);
  }
  for (const auto& [address, count] : users) {
    for (const std::string& need : snapshot.resources.at(address).needs) {
      if (auto used = users.find(need); used != users.end()) ++used->second;
    }
  }
  std::set<const ResourceRecord*, decltype(earlier)> free(earlier);
  for (const auto& [address, count] : users) {
    if (count == 0) free.insert(&snapshot.resources.at(address));
  }
  std::vector<const ResourceRecord*> records;
  while (!users.empty()) {
    // Records that need each other are no state of radlc's making; then any order is as good.
    const ResourceRecord* next = free.empty() ? &snapshot.resources.at(users.begin()->first) : *free.begin();
    free.erase(next);
    users.erase(next->address);
    records.push_back(next);
    for (const std::string& need : next->needs) {
      auto used = users.find(need);
      if (used != users.end() && --used->second == 0) free.insert(&snapshot.resources.at(need));
    }
  }
  return records;
}

void plan_removals(Draft& draft) {
  if (draft.input.snapshot.resources.empty() && draft.input.snapshot.steps.empty()) return;
  std::set<std::string> wanted, wanted_steps;
  for (const Desired& desired : draft.desired.resources) wanted.insert(desired.wanted.address);
  for (const ir::Step& step : draft.input.program.steps) wanted_steps.insert(step.id);
  const Snapshot& snapshot = draft.input.snapshot;
  std::map<std::string, std::vector<const ResourceRecord*>> gone;

  for (const auto& [id, record] : snapshot.steps) {
    if (wanted_steps.count(id)) continue;
    auto has = [&](const std::string& node) { return snapshot.resources.count(node) != 0; };
    bool on_wanted = std::any_of(record.nodes.begin(), record.nodes.end(),
                                 [&](const std::string& node) { return wanted.count(node) != 0; });
    const LeftRunning left = left_running(record, snapshot);
    bool on_present = std::any_of(record.nodes.begin(), record.nodes.end(), has) || !left.older.empty();
    // A step's record is removed with its last node.
    if (on_wanted || !on_present) forget_step(draft, record, on_wanted);
  }
  keep_what_released_use(snapshot, draft.plan, wanted);
  for (const ResourceRecord* record : in_removal_order(snapshot, wanted)) {
    if (record->is_node()) gone[record->system].push_back(record);
    draft.resource_actions[record->address] = draft.plan.actions.size();
    draft.plan.actions.push_back(removal(*record, why_removed(draft, *record)));
  }
  note_renames(draft, gone);
}

}  // namespace radl
