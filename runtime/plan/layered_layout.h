// Places the boxes of an acyclic graph in columns from left to right. Pure, and the same for the same input.
// Internal to runtime/plan.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace radl {

struct LayoutBox {
  double width = 0, height = 0;
  double x = 0, y = 0;  // of its left upper corner
};

struct LayoutEdge {
  size_t from = 0, to = 0;  // boxes; `from` comes first
  // From the right side of `from` to the left side of `to`, with a point in each column that it passes.
  std::vector<std::pair<double, double>> points;
};

struct LayoutSize {
  double width = 0, height = 0;
};

// Lengths are in the unit of the boxes. Each edge goes from a column to one further right.
LayoutSize layered_layout(std::vector<LayoutBox>& boxes, std::vector<LayoutEdge>& edges);

}  // namespace radl
