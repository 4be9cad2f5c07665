// Order and cycles of a graph that is given by what each vertex waits for.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace radl {

// waits[v]: the vertices that come before v, each below waits.size().
using Waits = std::vector<std::vector<size_t>>;

// Every vertex after all that it waits for; of those that may come next, the one that `earlier` puts first.
// Vertices on a cycle, and all after one, are missing.
std::vector<size_t> topological_order(const Waits& waits,
                                      const std::function<bool(size_t, size_t)>& earlier = std::less<>());

// One cycle for each group of vertices that all wait for each other, in the order of the groups' least
// vertices. A cycle begins with that vertex and is the shortest one through it: each waits for the next, the
// last for the first. A vertex that only waits for a cycle is in none.
std::vector<std::vector<size_t>> find_cycles(const Waits& waits);

}  // namespace radl
