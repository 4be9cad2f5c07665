// Lays out an acyclic graph in columns from left to right. Pure and deterministic. Internal to
// runtime/plan.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace radl {

struct LayoutBox {
  double width = 0, height = 0;
  double x = 0, y = 0;  // of its upper left corner
};

struct LayoutEdge {
  size_t from = 0, to = 0;  // indices of boxes; `from` is further left
  // From the right side of `from` to the left side of `to`, with a point in each column passed.
  std::vector<std::pair<double, double>> points;
};

struct LayoutSize {
  double width = 0, height = 0;
};

// Lengths use the boxes' unit. Each edge leads to a column further right.
LayoutSize layered_layout(std::vector<LayoutBox>& boxes, std::vector<LayoutEdge>& edges);

}  // namespace radl
