// The vertices of the graph in which items, trainings and barriers are put in order (order.cc).
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
  size_t place = 0;                       // in items or trainings
  std::tuple<int, int, int, size_t> key;  // what comes first when nothing else decides
  std::string id;                         // of a barrier's step
  bool needs_success = false;
  bool whole = false;  // `after MODULE` waits for all of it, also on other nodes
  std::vector<std::pair<size_t, std::string>> before;  // vertices that come first, and why
  std::vector<size_t> steps;                           // places in Build::steps; of a barrier: its own
  int group = 0;
};

// Moves the steps of `sorted` vertices into build.program, with their edges. order_emit.cc
void emit_steps(Build& build, const std::vector<Vertex>& vertices, const std::vector<size_t>& sorted);
// One report for each cycle, with what waits for what. order_cycles.cc
void report_cycles(Build& build, const std::vector<Vertex>& vertices, Waits waits);

}  // namespace radl::passes
