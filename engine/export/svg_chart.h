// Line charts as inline SVG.
#pragma once

#include <string>
#include <vector>

namespace radl::engine::exporter {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  // a non-finite value is a gap
};

struct Chart {
  std::string title, x_label;
  std::vector<Series> series;
  bool from_zero = false;
};

// "" if no series has two points.
std::string svg_chart(const Chart& chart);

}  // namespace radl::engine::exporter
