// The steps in their order, each with its edges: what comes before it on its nodes, and what it waits for.
#include <map>
#include <set>

#include "compiler/passes/build.h"
#include "compiler/passes/order_graph.h"

namespace radl::passes {

namespace {

class Emitter {
 public:
  Emitter(Build& build, const std::vector<Vertex>& vertices)
      : build_(build), vertices_(vertices), last_on_(build.program.nodes.size(), kNone) {}

  void run(const std::vector<size_t>& sorted) {
    index_nodes();
    static const std::vector<ir::Edge> none;
    // Applications, and what joins networks, come before everything else on their node: passes/steps.cc and
    // passes/wireguard.cc have put them there. A barrier stands for the steps that it waits for.
    for (size_t i = 0; i < build_.program.steps.size(); i++) {
      const ir::Step& first = build_.program.steps[i];
      for (const std::string& node : first.nodes) last_on_[node_place_.at(node)] = i;
      for (const ir::Edge& edge : first.kind == ir::StepKind::Barrier ? first.after : none)
        last_on_[node_place_.at(edge.to.substr(0, edge.to.find('/')))] = i;
    }
    for (const BoundItem& item : build_.items) {
      if (item.kind != ir::StepKind::CloudInit) continue;
      for (size_t place : item.steps) build_.program.steps.push_back(build_.steps[place]);
    }
    for (size_t v : sorted) {
      switch (vertices_[v].kind) {
        case Vertex::Barrier:
          emit_barrier(vertices_[v]);
          break;
        case Vertex::Item:
          emit_item(vertices_[v]);
          break;
        case Vertex::Training:
          emit_training(vertices_[v]);
          break;
      }
    }
    drop_idle_barriers();
  }

 private:
  // A barrier that nothing waits for: all that would have found what they need on their own node.
  void drop_idle_barriers() {
    std::set<std::string> waited_for;
    for (const ir::Step& step : build_.program.steps) {
      for (const ir::Edge& edge : step.after) waited_for.insert(edge.to);
    }
    std::erase_if(build_.program.steps, [&](const ir::Step& step) {
      return step.kind == ir::StepKind::Barrier && !waited_for.contains(step.id);
    });
  }

  void index_nodes() {
    for (size_t i = 0; i < build_.program.nodes.size(); i++) node_place_[build_.program.nodes[i].address] = i;
  }

  // Ids of the steps of a vertex, as edges.
  void wait_for(ir::Step& step, const Vertex& vertex, const std::string& reason) {
    if (vertex.kind == Vertex::Barrier) return add_edge(step, vertex.id, reason);
    for (size_t place : vertex.steps) add_edge(step, build_.steps[place].id, reason);
  }

  static void add_edge(ir::Step& step, const std::string& to, const std::string& reason) {
    for (const ir::Edge& edge : step.after) {
      if (edge.to == to) return;
    }
    step.after.push_back({to, reason});
  }

  void emit_barrier(const Vertex& vertex) {
    ir::Step step;
    step.id = vertex.id;
    step.kind = ir::StepKind::Barrier;
    step.group = vertex.group;
    step.needs_success = vertex.needs_success;
    for (const auto& [first, why] : vertex.before) {
      // No duplicates here, so no search: a barrier may wait for very many.
      for (size_t place : vertices_[first].steps) step.after.push_back({build_.steps[place].id, why});
    }
    build_.program.steps.push_back(std::move(step));
  }

  void emit_item(const Vertex& vertex) {
    for (size_t place : vertex.steps) {
      ir::Step step = std::move(build_.steps[place]);
      build_.steps[place].id = step.id;  // edges still refer to it
      size_t node = node_place_.at(step.nodes[0]);
      for (const auto& [first, why] : vertex.before) wait_on_same_node(step, vertices_[first], why);
      chain(step, node, "same node");
      build_.program.steps.push_back(std::move(step));
    }
  }

  // `after NAME` where NAME has a step on the same node means that step only.
  void wait_on_same_node(ir::Step& step, const Vertex& first, const std::string& why) {
    if (first.kind == Vertex::Barrier && first.needs_success && !first.whole) {
      bool found = false;
      for (const auto& [member, reason] : first.before) {
        for (size_t place : on_node(member, step.nodes[0])) {
          add_edge(step, build_.steps[place].id, why);
          found = true;
        }
      }
      if (found) return;
    }
    wait_for(step, first, why);
  }

  // Steps of a vertex on one node.
  const std::vector<size_t>& on_node(size_t vertex, const std::string& node) {
    static const std::vector<size_t> none;
    auto [index, fresh] = node_steps_.try_emplace(vertex);
    if (fresh) {
      for (size_t place : vertices_[vertex].steps) {
        const std::string& id = build_.steps[place].id;
        index->second[id.substr(0, id.find('/'))].push_back(place);
      }
    }
    auto found = index->second.find(node);
    return found == index->second.end() ? none : found->second;
  }

  void chain(ir::Step& step, size_t node, const std::string& reason) {
    if (last_on_[node] != kNone) add_edge(step, build_.program.steps[last_on_[node]].id, reason);
    last_on_[node] = build_.program.steps.size();
  }

  void emit_training(const Vertex& vertex) {
    ir::Step step = build_.steps[vertex.steps[0]];
    std::set<std::string> seen;
    for (const auto& [first, why] : vertex.before) wait_for(step, vertices_[first], why);
    for (const ir::Edge& edge : step.after) seen.insert(edge.to);
    for (const std::string& address : step.nodes) {
      size_t node = node_place_.at(address);
      if (last_on_[node] != kNone) {
        const std::string& id = build_.program.steps[last_on_[node]].id;
        if (seen.insert(id).second) step.after.push_back({id, "its nodes are ready"});
      }
      last_on_[node] = build_.program.steps.size();
    }
    build_.program.steps.push_back(std::move(step));
  }

  Build& build_;
  const std::vector<Vertex>& vertices_;
  std::map<std::string, size_t> node_place_;
  std::map<size_t, std::map<std::string, std::vector<size_t>>> node_steps_;  // by vertex and node
  std::vector<size_t> last_on_;                                              // node -> place in program.steps
};

}  // namespace

void emit_steps(Build& build, const std::vector<Vertex>& vertices, const std::vector<size_t>& sorted) {
  Emitter(build, vertices).run(sorted);
}

}  // namespace radl::passes
