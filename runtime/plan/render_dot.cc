#include "runtime/plan/graph.h"
#include "runtime/plan/render.h"

namespace radl {

namespace {

const char* fill_of(Verb verb) {
  switch (verb) {
    case Verb::Create:
      return "#d6f5d6";
    case Verb::Update:
      return "#fff3c4";
    case Verb::Replace:
      return "#f3d9fa";
    case Verb::Delete:
      return "#ffd6d6";
    case Verb::Run:
      return "#d6ecff";
    case Verb::Forget:
      return "#eeeeee";
  }
  return "#ffffff";
}

}  // namespace

std::string render_dot(const Plan& plan) {
  Result<PlanGraph> graph = plan_graph(plan);
  if (!graph.ok()) return "digraph \"plan\" {\n}\n";
  auto label = [&](Dag::Id id) -> std::string {
    const PlanVertex& vertex = graph->vertices[id];
    if (vertex.phase == PlanVertex::Phase::Barrier) return plan.barriers[vertex.index].id;
    const Action& action = plan.actions[vertex.index];
    bool first_half = vertex.phase == PlanVertex::Phase::Remove && action.verb == Verb::Replace;
    std::string mark(first_half ? "-" : action.verb == Verb::Replace ? "+" : verb_mark(action.verb));
    return mark + " " + action.id + (action.summary.empty() ? "" : "\n" + action.summary);
  };
  auto attributes = [&](Dag::Id id) -> std::string {
    const PlanVertex& vertex = graph->vertices[id];
    if (vertex.phase == PlanVertex::Phase::Barrier) return "shape=diamond, style=dashed";
    return std::string("style=filled, fillcolor=\"") + fill_of(plan.actions[vertex.index].verb) + "\"";
  };
  return graph->dag.to_dot("plan of " + plan.infrastructure, label, attributes);
}

}  // namespace radl
