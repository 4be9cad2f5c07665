// Topological order and cycles of a graph, given by the predecessors of each vertex.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace radl {

// waits[v] lists the predecessors of v, each less than waits.size().
using Waits = std::vector<std::vector<size_t>>;

// Returns every vertex after all its predecessors. Among the available vertices, `earlier` decides which
// comes first. Omits vertices on a cycle and all their successors.
std::vector<size_t> topological_order(const Waits& waits,
                                      const std::function<bool(size_t, size_t)>& earlier = std::less<>());

// Returns one cycle for each group of vertices that all depend on each other, ordered by the smallest vertex
// of each group. A cycle begins with that vertex and is the shortest one through it: each vertex waits for
// the next, the last for the first. Omits vertices that only depend on a cycle.
std::vector<std::vector<size_t>> find_cycles(const Waits& waits);

}  // namespace radl
