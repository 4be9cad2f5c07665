// Steps that wait for each other: a report for each cycle.
#include <fmt/format.h>

#include <set>

#include "compiler/passes/build.h"
#include "compiler/passes/order_graph.h"

namespace radl::passes {

namespace {

constexpr size_t kMostPlaces = 6;  // that a report of a cycle shows beside its first
constexpr size_t kMostNames = 20;

std::string name_of(const Build& build, const Vertex& vertex) {
  switch (vertex.kind) {
    case Vertex::Item:
      return fmt::format("{} on {}", build.items[vertex.place].recipe, build.items[vertex.place].system);
    case Vertex::Training:
      return build.steps[vertex.steps[0]].id;
    case Vertex::Barrier:
      return vertex.needs_success ? vertex.id.substr(vertex.id.rfind('/') + 1)
                                  : fmt::format("step {}", vertex.group);
  }
  return "?";
}

// Cycles that share no edge, so that each needs a change of its own.
std::vector<std::vector<size_t>> separate_cycles(Waits waits) {
  constexpr size_t kMostRounds = 20;
  std::vector<std::vector<size_t>> out;
  for (size_t round = 0; round < kMostRounds; round++) {
    std::vector<std::vector<size_t>> found = find_cycles(waits);
    if (found.empty()) break;
    for (std::vector<size_t>& way : found) {
      for (size_t i = 0; i < way.size(); i++) std::erase(waits[way[i]], way[(i + 1) % way.size()]);
      out.push_back(std::move(way));
    }
  }
  return out;
}

}  // namespace

// Two instances of a module have the same cycle at the same places.
void report_cycles(Build& build, const std::vector<Vertex>& vertices, Waits waits) {
  std::set<std::vector<std::pair<uint32_t, uint32_t>>> reported;
  for (const std::vector<size_t>& way : separate_cycles(std::move(waits))) {
    std::string text;
    std::vector<Span> places;
    for (size_t i = 0; i < way.size(); i++) {
      const Vertex& vertex = vertices[way[i]];
      if (vertex.kind == Vertex::Item && build.items[vertex.place].span.known())
        places.push_back(build.items[vertex.place].span);
      if (i < kMostNames) text += name_of(build, vertex) + " waits for ";
    }
    if (way.size() > kMostNames) text += fmt::format("{} others, the last for ", way.size() - kMostNames);
    text += name_of(build, vertices[way.front()]);
    Span span = places.empty() ? Span() : places.front();
    std::vector<std::pair<uint32_t, uint32_t>> key;
    for (const Span& place : places) key.emplace_back(place.file, place.begin);
    if (span.known() && !reported.insert(key).second) continue;
    Diagnostic& report = build.diagnostics.report(
        DiagCode::StepCycle, span,
        fmt::format("{}: {}",
                    way.size() == 1 ? "this step waits for itself" : "these steps wait for each other",
                    text));
    for (size_t i = 1; i < places.size() && i <= kMostPlaces; i++) report.note(places[i], "one of them");
  }
}

}  // namespace radl::passes
