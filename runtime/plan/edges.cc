// What must come before what, as edges between the plan's own actions.
#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/elastic_farm.h"
#include "runtime/plan/build.h"
#include "runtime/plan/graph.h"
#include "runtime/plan/step_facts.h"
#include "runtime/plan/values.h"

namespace radl {

void removal_edges(const Snapshot& snapshot, Plan& plan) {
  if (snapshot.resources.empty()) return;
  std::unordered_map<std::string_view, size_t> index;
  for (size_t i = 0; i < plan.actions.size(); ++i) index[plan.actions[i].id] = i;
  for (const auto& [address, record] : snapshot.resources) {
    auto user = index.find(address);
    // What is gone, and so created, uses nothing any more.
    if (user == index.end() || plan.actions[user->second].verb == Verb::Create) continue;
    for (const std::string& need : record.needs) {
      auto used = index.find(need);
      if (used == index.end()) continue;
      Action& action = plan.actions[used->second];
      if (action.verb == Verb::Delete || action.verb == Verb::Replace)
        action.removed_after.push_back(address);
    }
  }
}

namespace {

// Steps wait for steps; where one in between does not run, for what that one would have waited for.
class StepEdges {
 public:
  explicit StepEdges(Draft& draft) : draft_(draft) {
    for (const ir::Step& step : draft.input.program.steps) steps_[step.id] = &step;
    for (const Desired& desired : draft.desired.resources) desired_[desired.wanted.address] = &desired;
  }

  void run() {
    add_all_nodes();
    for (const ir::Step& step : draft_.input.program.steps) {
      std::set<std::string> before;
      for (const ir::Edge& edge : step.after) {
        if (auto found = ends_.find(edge.to); found != ends_.end())
          before.insert(found->second.begin(), found->second.end());
      }
      auto action = draft_.step_actions.find(step.id);
      if (step.kind == ir::StepKind::Barrier) {
        if (before.empty()) continue;
        // A step number is not over before the ones below it, also where its own steps have been given up.
        if (!step.needs_success) add_earlier_barriers(step, before);
        draft_.plan.barriers.push_back({step.id, {before.begin(), before.end()}, step.needs_success});
        ends_[step.id] = {step.id};
        barriers_.insert(step.id);
      } else if (action != draft_.step_actions.end()) {
        connect(step, draft_.plan.actions[action->second], before);
        ends_[step.id] = {step.id};
      } else if (!before.empty()) {
        ends_[step.id] = std::move(before);
      }
    }
    drop_unused_barriers();
  }

 private:
  // Ansible's inventory holds every machine, so its recipes wait until each has been made, or could not be.
  void add_all_nodes() {
    std::set<std::string> made;
    for (const ir::Node& node : draft_.input.program.nodes) add_if_made(node.address, made);
    if (made.size() > 1) draft_.plan.barriers.push_back({kAllNodes, {made.begin(), made.end()}, false});
    has_all_nodes_ = made.size() > 1;
  }

  void add_earlier_barriers(const ir::Step& barrier, std::set<std::string>& before) const {
    for (const ir::Edge& edge : barrier.after) {
      auto member = steps_.find(edge.to);
      if (member == steps_.end()) continue;
      for (const ir::Edge& earlier : member->second->after) {
        if (barriers_.count(earlier.to)) before.insert(earlier.to);
      }
    }
  }

  void connect(const ir::Step& step, Action& action, const std::set<std::string>& before) {
    std::set<std::string> needs = before, nodes;
    for (const std::string& node : step.nodes) add_node(node, nodes);
    // An elastic farm starts with those of its nodes that could be created.
    if (ir::has_elastic_farm(step) && !nodes.empty()) {
      const std::string all = step.id + " nodes";
      draft_.plan.barriers.push_back({all, {nodes.begin(), nodes.end()}, false});
      nodes = {all};
    }
    needs.merge(nodes);
    if (step.kind == ir::StepKind::Ansible && has_all_nodes_) needs.insert(kAllNodes);
    // A value that is known only after its owner exists.
    for (const std::string& name : ir::unknowns_in(step)) {
      std::string owner = split_unknown(name).owner;
      add_if_made(owner, needs);
      if (draft_.step_actions.count(owner) && owner != step.id) needs.insert(owner);
    }
    action.needs.assign(needs.begin(), needs.end());
    for (const ir::Edge& edge : step.after) {
      if (edge.reason.empty() || !ends_.count(edge.to)) continue;
      std::string text = edge.reason;
      if (text.find(edge.to) == std::string::npos && draft_.step_actions.count(edge.to))
        text += " (" + edge.to + ")";
      if (std::find(action.order.begin(), action.order.end(), text) == action.order.end())
        action.order.push_back(text);
    }
  }

  // An existing node may be unreachable until what it depends on has changed: SSH is opened for another
  // address.
  void add_node(const std::string& node, std::set<std::string>& needs) const {
    add_if_made(node, needs);
    if (draft_.resource_action(node)) return;
    auto desired = desired_.find(node);
    if (desired == desired_.end()) return;
    for (const std::string& reference : desired->second->wanted.references) add_if_made(reference, needs);
  }

  void add_if_made(const std::string& address, std::set<std::string>& needs) const {
    const Action* made = draft_.resource_action(address);
    if (made && made->verb != Verb::Delete) needs.insert(address);
  }

  void drop_unused_barriers() {
    auto& barriers = draft_.plan.barriers;
    if (barriers.empty()) return;
    std::unordered_set<std::string> used;
    for (const Action& action : draft_.plan.actions) used.insert(action.needs.begin(), action.needs.end());
    // Later ones may wait for earlier ones only.
    for (size_t i = barriers.size(); i-- > 0;) {
      if (used.count(barriers[i].id)) {
        used.insert(barriers[i].needs.begin(), barriers[i].needs.end());
      } else {
        barriers.erase(barriers.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }

  static constexpr const char* kAllNodes = "all nodes";

  Draft& draft_;
  std::unordered_map<std::string_view, const Desired*> desired_;  // by address
  bool has_all_nodes_ = false;
  std::unordered_map<std::string_view, const ir::Step*> steps_;
  std::set<std::string> barriers_;  // so far, in the plan
  std::unordered_map<std::string_view, std::set<std::string>>
      ends_;  // step -> actions and barriers whose end is the step's end
};

}  // namespace

namespace {

void need(Action& action, const std::string& id) {
  if (id != action.id && std::find(action.needs.begin(), action.needs.end(), id) == action.needs.end())
    action.needs.push_back(id);
}

bool share_a_node(const Action& a, const Action& b) {
  return std::any_of(a.nodes.begin(), a.nodes.end(), [&](const std::string& node) {
    return std::find(b.nodes.begin(), b.nodes.end(), node) != b.nodes.end();
  });
}

// Nodes that are removed with what may run there of a job: a training that is joined has left them.
std::vector<std::string> removed_with_job(const Draft& draft, const Action& job) {
  std::vector<std::string> removed;
  const auto record = draft.input.snapshot.steps.find(job.id);
  if (record == draft.input.snapshot.steps.end()) return removed;
  for (const std::string& node : left_running(record->second, draft.input.snapshot).newest) {
    const Action* action = draft.resource_action(node);
    if (action && action->verb == Verb::Delete) removed.push_back(node);
  }
  return removed;
}

// Leftovers of older job versions end before their successors start: with their node if that is removed, and
// before anything else on their nodes if the job is no longer in the file.
void job_edges(Draft& draft) {
  std::vector<Action>& actions = draft.plan.actions;
  std::vector<const Action*> forgotten;
  for (const Action& action : actions) {
    const bool ends = !action.ends.empty() || action.spec.contains("stops");
    if (action.verb == Verb::Forget && ends) forgotten.push_back(&action);
  }
  for (Action& action : actions) {
    if (!action.is_step || action.verb != Verb::Run || action.spec.contains("drains")) continue;
    for (const std::string& node : action.ends) {
      if (draft.resource_action(node)) need(action, node);
    }
    for (const std::string& node : removed_with_job(draft, action)) need(action, node);
    for (const Action* job : forgotten) {
      if (share_a_node(*job, action)) need(action, job->id);
    }
  }
}

}  // namespace

void plan_edges(Draft& draft) {
  for (const Desired& desired : draft.desired.resources) {
    auto own = draft.resource_actions.find(desired.wanted.address);
    if (own == draft.resource_actions.end()) continue;
    for (const std::string& need : desired.wanted.references) {
      const Action* action = draft.resource_action(need);
      if (action && action->verb != Verb::Delete) draft.plan.actions[own->second].needs.push_back(need);
    }
  }
  removal_edges(draft.input.snapshot, draft.plan);
  StepEdges(draft).run();
  job_edges(draft);
}

Status plan_order(Draft& draft) {
  Plan& plan = draft.plan;
  Result<PlanGraph> graph = plan_graph(plan);
  if (!graph.ok()) return graph.status();
  // An action is placed at its last phase. Among free actions, the reading order decides.
  std::vector<size_t> place(plan.actions.size());
  size_t position = 0;
  for (Dag::Id id : graph->dag.topological_order()) {
    const PlanVertex& vertex = graph->vertices[id];
    if (vertex.phase != PlanVertex::Phase::Barrier) place[vertex.index] = ++position;
  }
  std::vector<size_t> order(plan.actions.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return place[a] < place[b]; });
  std::vector<Action> sorted;
  sorted.reserve(order.size());
  for (size_t i : order) sorted.push_back(std::move(plan.actions[i]));
  plan.actions = std::move(sorted);
  draft.resource_actions.clear();
  draft.step_actions.clear();
  std::vector<size_t> now(order.size());
  for (size_t i = 0; i < order.size(); ++i) now[order[i]] = i;
  for (PlanVertex& vertex : graph->vertices) {
    if (vertex.phase != PlanVertex::Phase::Barrier) vertex.index = now[vertex.index];
  }
  draft.graph = std::move(*graph);
  for (size_t i = 0; i < plan.actions.size(); ++i) {
    (plan.actions[i].is_step ? draft.step_actions : draft.resource_actions)[plan.actions[i].id] = i;
  }
  return {};
}

}  // namespace radl
