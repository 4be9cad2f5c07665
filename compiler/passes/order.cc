// The order of steps, and each edge with its reason.
//
// Items are ordered first, as vertices of a small graph: RADL's step numbers within an instance (through a
// barrier each), `after`, and values that a training gives. Among what may come next, the program's items go
// before those of the modules that it uses, lower step numbers first, trainings last, these in the order of
// the source (order_places.h). Then the steps of each node are chained in that order (order_emit.cc). Cycles
// are reported (order_cycles.cc) beside other errors too, as far as these leave items to look at.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/topology.h"
#include "compiler/eval/mentions.h"
#include "compiler/passes/build.h"
#include "compiler/passes/order_graph.h"
#include "compiler/passes/order_places.h"

namespace radl::passes {

namespace {

class Orderer {
 public:
  explicit Orderer(Build& build) : build_(build), clean_(!build.diagnostics.has_errors()) {}

  void run() {
    add_vertices();
    add_groups();
    add_afters();
    add_values();
    add_modules();
    Waits waits(vertices_.size());
    for (size_t v = 0; v < vertices_.size(); v++) {
      for (const auto& [first, why] : vertices_[v].before) waits[v].push_back(first);
    }
    std::vector<size_t> sorted =
        topological_order(waits, [this](size_t a, size_t b) { return vertices_[a].key < vertices_[b].key; });
    if (sorted.size() != vertices_.size()) return report_cycles(build_, vertices_, std::move(waits));
    if (clean_) emit_steps(build_, vertices_, sorted);
  }

 private:
  // ---- vertices and what must come before them

  void add_vertices() {
    for (size_t i = 0; i < build_.items.size(); i++) {
      const BoundItem& item = build_.items[i];
      if (item.kind == ir::StepKind::CloudInit) continue;
      // A recipe with an error has no steps, but its place in the order: a circle through it is one.
      bool failed = !clean_ && build_.nodes_of.contains(item.system);
      if (item.steps.empty() && !failed) continue;
      Vertex vertex{Vertex::Item, i, {0, item.instance->order, item.group, i}};
      vertex.steps = item.steps;
      vertex.group = item.group;
      by_recipe_[{item.instance, item.configure}].push_back(vertices_.size());
      by_instance_[item.instance].push_back(vertices_.size());
      vertices_.push_back(std::move(vertex));
    }
    const std::vector<size_t> places = places_in_source(build_.trainings);
    for (size_t i = 0; i < build_.trainings.size(); i++) {
      const Build::TrainingStep& training = build_.trainings[i];
      Vertex vertex{Vertex::Training, i, {1, 0, 0, places[i]}};
      vertex.steps = {training.step};
      by_recipe_[{training.instance, training.configure}].push_back(vertices_.size());
      by_instance_[training.instance].push_back(vertices_.size());
      training_vertex_[build_.steps[training.step].id] = vertices_.size();
      vertices_.push_back(std::move(vertex));
    }
  }

  size_t add_barrier(std::string id, bool needs_success, int group) {
    Vertex vertex{Vertex::Barrier, 0, {-1, 0, 0, vertices_.size()}};
    vertex.id = std::move(id);
    vertex.needs_success = needs_success;
    vertex.group = group;
    vertices_.push_back(std::move(vertex));
    return vertices_.size() - 1;
  }

  static std::string barrier_id(const Instance& instance, std::string_view kind, std::string_view name) {
    return fmt::format("{}{}/{}", instance.prefix.empty() ? "" : instance.prefix + "/", kind, name);
  }

  void add_groups() {
    for (auto& [instance, members] : by_instance_) {
      std::map<int, std::vector<size_t>> groups;
      for (size_t v : members) {
        if (vertices_[v].kind == Vertex::Item) groups[vertices_[v].group].push_back(v);
      }
      size_t barrier = kNone;
      int earlier = 0;
      for (auto at = groups.begin(); at != groups.end(); ++at) {
        if (barrier != kNone) {
          for (size_t v : at->second)
            vertices_[v].before.emplace_back(barrier,
                                             fmt::format("step {} follows step {}", at->first, earlier));
        }
        if (std::next(at) == groups.end()) break;
        earlier = at->first;
        barrier = add_barrier(barrier_id(*instance, "step", std::to_string(earlier)), false, earlier);
        for (size_t v : at->second)
          vertices_[barrier].before.emplace_back(v, fmt::format("step {} is over", earlier));
      }
    }
  }

  // All that `after NAME` waits for: the configure's items, its training, or everything of an instance of a
  // module.
  std::optional<std::vector<size_t>> target(const Instance& instance, std::string_view name) {
    std::vector<size_t> members;
    if (const Instance* child = instance.child(name)) {
      visit(*child, [&](const Instance& inner) {
        if (auto found = by_instance_.find(&inner); found != by_instance_.end())
          members.insert(members.end(), found->second.begin(), found->second.end());
      });
      return members;
    }
    auto found = instance.configures.find(name);
    auto* configure = found == instance.configures.end() ? nullptr : ast::as<ast::Configure>(found->second);
    if (configure == nullptr) return std::nullopt;
    if (auto bound = by_recipe_.find({&instance, configure}); bound != by_recipe_.end())
      members = bound->second;
    return members;
  }

  void add_afters() {
    size_t count = vertices_.size();
    for (size_t v = 0; v < count; v++) {
      if (vertices_[v].kind != Vertex::Item) continue;
      const BoundItem& item = build_.items[vertices_[v].place];
      if (item.written == nullptr) continue;
      for (const ast::Name& name : item.written->after) add_after(v, item, name);
    }
  }

  void add_after(size_t v, const BoundItem& item, const ast::Name& name) {
    auto [known, fresh] = targets_.try_emplace({item.instance, name.text}, kNone);
    if (fresh) {
      auto members = target(*item.instance, name.text);
      if (!members ||
          (members->empty() && !build_.configuration_off && !runs_nowhere(*item.instance, name.text) &&
           !mentions_in(*item.instance).configured.contains(name.text))) {
        // Beside other errors it may only follow from one of them.
        if (!clean_) return;
        build_.diagnostics.report(
            DiagCode::AfterUnknown, name.span,
            members ? fmt::format("'{}' is given to no system: nothing can come after it", name.text)
                    : fmt::format("there is no configure and no module '{}'", name.text));
        return;
      }
      if (members->empty()) return;
      known->second = all_of(*members, *item.instance, name.text);
    }
    if (known->second == kNone) return;
    vertices_[v].before.emplace_back(known->second, fmt::format("after {}", name.text));
  }

  // The one step itself, or a barrier.
  size_t all_of(const std::vector<size_t>& members, const Instance& instance, std::string_view name) {
    if (members.size() == 1 && vertices_[members.front()].steps.size() == 1) return members.front();
    size_t barrier = add_barrier(barrier_id(instance, "after", name), true, 0);
    for (size_t m : members) vertices_[barrier].before.emplace_back(m, fmt::format("part of {}", name));
    vertices_[barrier].whole = instance.child(name) != nullptr;
    return barrier;
  }

  // Bound, but to systems without nodes: then there is nothing to wait for, and that is fine.
  bool runs_nowhere(const Instance& instance, std::string_view name) const {
    if (instance.child(name) != nullptr) return true;
    for (const BoundItem& item : build_.items) {
      if (item.instance == &instance && item.configure->name.text == name) return true;
    }
    return false;
  }

  // A step that holds a product of a training waits for it.
  void add_values() {
    for (size_t v = 0; v < vertices_.size(); v++) {
      std::set<size_t> needed;
      for (size_t place : vertices_[v].steps) {
        for (const std::string& name : ir::unknowns_in(build_.steps[place])) {
          auto found = training_vertex_.find(name.substr(0, name.rfind('.')));
          if (found != training_vertex_.end()) needed.insert(found->second);
        }
        if (training_vertex_.empty()) break;
      }
      for (size_t t : needed)
        vertices_[v].before.emplace_back(
            t, fmt::format("needs a value of {}", build_.steps[vertices_[t].steps[0]].id));
    }
  }

  // A training or program that uses an output of a module waits for that module on all its nodes. If the
  // module in turn waits for it, only the values determine the order.
  void add_modules() {
    for (const Build::TrainingStep& training : build_.trainings) {
      const size_t v = training_vertex_.at(build_.steps[training.step].id);
      for (const auto& [instance, name] : modules_taken_by(training)) {
        const std::vector<size_t> members = *target(*instance, name);
        if (members.empty() || on_its_nodes(members, v) || reaches(members, v)) continue;
        auto [known, fresh] = targets_.try_emplace({instance, name}, kNone);
        if (fresh) known->second = all_of(members, *instance, name);
        vertices_[v].before.emplace_back(known->second, fmt::format("takes an output of {}", name));
      }
    }
  }

  // Steps that come before the training without more ado.
  bool on_its_nodes(const std::vector<size_t>& members, size_t training) const {
    const ir::Step& step = build_.steps[vertices_[training].steps[0]];
    const std::set<std::string> nodes(step.nodes.begin(), step.nodes.end());
    return std::all_of(members.begin(), members.end(), [&](size_t m) {
      return vertices_[m].kind == Vertex::Item &&
             std::all_of(vertices_[m].steps.begin(), vertices_[m].steps.end(),
                         [&](size_t place) { return nodes.contains(build_.steps[place].nodes[0]); });
    });
  }

  // True if one of them waits for the vertex, directly or not.
  bool reaches(std::vector<size_t> left, size_t wanted) const {
    std::set<size_t> seen(left.begin(), left.end());
    while (!left.empty()) {
      const size_t v = left.back();
      left.pop_back();
      if (v == wanted) return true;
      for (const auto& [first, why] : vertices_[v].before) {
        if (seen.insert(first).second) left.push_back(first);
      }
    }
    return false;
  }

  Build& build_;
  bool clean_;  // nothing is wrong so far; else only cycles are looked for
  std::vector<Vertex> vertices_;
  std::map<std::pair<const Instance*, const ast::Configure*>, std::vector<size_t>> by_recipe_;
  struct ByOrder {
    bool operator()(const Instance* a, const Instance* b) const { return a->order < b->order; }
  };
  std::map<const Instance*, std::vector<size_t>, ByOrder> by_instance_;
  std::map<std::string, size_t> training_vertex_;  // step id -> vertex
  std::map<std::pair<const Instance*, std::string_view>, size_t> targets_;
};

}  // namespace

void order(Build& build) { Orderer(build).run(); }

}  // namespace radl::passes
