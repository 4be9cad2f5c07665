#include "runtime/plan/graph.h"

#include <string_view>
#include <unordered_map>

namespace radl {

namespace {

class GraphBuilder {
 public:
  explicit GraphBuilder(const Plan& plan) : plan_(plan) {}

  Result<PlanGraph> build() {
    make_.reserve(plan_.actions.size() + plan_.barriers.size());
    for (size_t i = 0; i < plan_.actions.size(); ++i) add_action(i);
    for (size_t i = 0; i < plan_.barriers.size(); ++i) {
      size_t id = make_[plan_.barriers[i].id] = vertex(PlanVertex::Phase::Barrier, i);
      graph_.barrier[id] = true;
      graph_.tolerant[id] = !plan_.barriers[i].needs_success;
    }
    for (const Action& action : plan_.actions) connect(action);
    for (const Barrier& barrier : plan_.barriers) {
      const size_t own = make_.at(barrier.id);
      for (const std::string& need : barrier.needs) edge(make_, need, own);
    }
    if (!problem_.ok()) return problem_;
    if (std::vector<Dag::Id> cycle = graph_.dag.find_cycle(); !cycle.empty())
      return invalid(cycle_text(cycle));
    return std::move(graph_);
  }

 private:
  using Ids = std::unordered_map<std::string_view, size_t>;  // of the plan's own strings

  size_t vertex(PlanVertex::Phase phase, size_t index) {
    graph_.vertices.push_back({phase, index});
    graph_.barrier.push_back(false);
    graph_.tolerant.push_back(false);
    return graph_.dag.add();
  }

  void add_action(size_t index) {
    const Action& action = plan_.actions[index];
    bool removes = action.verb == Verb::Delete || action.verb == Verb::Replace;
    if (removes) remove_[action.id] = vertex(PlanVertex::Phase::Remove, index);
    if (action.verb != Verb::Delete) {
      const size_t made = make_[action.id] = vertex(PlanVertex::Phase::Make, index);
      graph_.tolerant[made] = action.rejoins;
    }
    if (action.verb == Verb::Replace) graph_.dag.add_edge(remove_[action.id], make_[action.id]);
  }

  void edge(const Ids& from, const std::string& id, size_t to) {
    auto found = from.find(id);
    if (found == from.end()) {
      if (problem_.ok()) problem_ = invalid("the plan waits for '" + id + "', which is not in it");
    } else {
      graph_.dag.add_edge(found->second, to);
    }
  }

  void connect(const Action& action) {
    if (auto made = make_.find(action.id); made != make_.end()) {
      // For actions that only remove: the removal.
      for (const std::string& need : action.needs)
        edge(make_.count(need) ? make_ : remove_, need, made->second);
    }
    if (auto removed = remove_.find(action.id); removed != remove_.end()) {
      // What is only changed has left it when that change is done.
      for (const std::string& id : action.removed_after)
        edge(remove_.count(id) ? remove_ : make_, id, removed->second);
    }
  }

  std::string cycle_text(const std::vector<Dag::Id>& cycle) const {
    std::string text = "these wait for each other: ";
    for (Dag::Id id : cycle) {
      const PlanVertex& at = graph_.vertices[id];
      text +=
          at.phase == PlanVertex::Phase::Barrier ? plan_.barriers[at.index].id : plan_.actions[at.index].id;
      text += " -> ";
    }
    const PlanVertex& first = graph_.vertices[cycle.front()];
    return text + (first.phase == PlanVertex::Phase::Barrier ? plan_.barriers[first.index].id
                                                             : plan_.actions[first.index].id);
  }

  const Plan& plan_;
  PlanGraph graph_;
  Ids make_, remove_;
  Status problem_;
};

}  // namespace

Result<PlanGraph> plan_graph(const Plan& plan) { return GraphBuilder(plan).build(); }

}  // namespace radl
