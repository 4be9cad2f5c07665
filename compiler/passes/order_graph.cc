#include "compiler/passes/order_graph.h"

#include <queue>

namespace radl::passes {

std::vector<size_t> sort_vertices(const std::vector<Vertex>& vertices) {
  std::vector<size_t> waiting(vertices.size(), 0);
  std::vector<std::vector<size_t>> behind(vertices.size());
  for (size_t v = 0; v < vertices.size(); v++) {
    for (const auto& [first, why] : vertices[v].before) {
      behind[first].push_back(v);
      waiting[v]++;
    }
  }
  auto later = [&](size_t a, size_t b) { return vertices[a].key > vertices[b].key; };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> ready(later);
  for (size_t v = 0; v < vertices.size(); v++) {
    if (waiting[v] == 0) ready.push(v);
  }
  std::vector<size_t> sorted;
  while (!ready.empty()) {
    size_t v = ready.top();
    ready.pop();
    sorted.push_back(v);
    for (size_t next : behind[v]) {
      if (--waiting[next] == 0) ready.push(next);
    }
  }
  return sorted;
}

std::vector<size_t> cycle_in(const std::vector<Vertex>& vertices, const std::vector<size_t>& sorted) {
  std::vector<bool> done(vertices.size(), false);
  for (size_t v : sorted) done[v] = true;
  size_t at = 0;
  while (done[at]) at++;
  // Every vertex that is left has one before it that is left too: walking back must come round.
  std::vector<size_t> way;
  std::vector<size_t> place(vertices.size(), kNone);
  while (place[at] == kNone) {
    place[at] = way.size();
    way.push_back(at);
    for (const auto& [first, why] : vertices[at].before) {
      if (!done[first]) {
        at = first;
        break;
      }
    }
  }
  way.erase(way.begin(), way.begin() + static_cast<std::ptrdiff_t>(place[at]));
  return way;
}

}  // namespace radl::passes
