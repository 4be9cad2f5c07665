// Vertices of the graph that orders items, trainings and barriers (order.cc).
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/topology.h"

namespace radl::passes {

struct Build;

inline constexpr size_t kNone = static_cast<size_t>(-1);

struct Vertex {
  enum Kind { Item, Training, Barrier } kind;
  size_t place = 0;                       // index into items or trainings
  std::tuple<int, int, int, size_t> key;  // sort key if nothing else decides
  std::string id;                         // ID of a barrier's step
  bool needs_success = false;
  bool whole = false;  // `after MODULE` waits for the whole module, also on other nodes
  std::vector<std::pair<size_t, std::string>> before;  // predecessor vertices and the reason
  std::vector<size_t> steps;                           // indices into Build::steps; a barrier has its own
  int group = 0;
};

// Moves the steps of the `sorted` vertices into build.program with their edges. order_emit.cc
void emit_steps(Build& build, const std::vector<Vertex>& vertices, const std::vector<size_t>& sorted);
// Reports each cycle and the dependencies that form it. order_cycles.cc
void report_cycles(Build& build, const std::vector<Vertex>& vertices, Waits waits);

}  // namespace radl::passes
