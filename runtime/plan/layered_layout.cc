// After Sugiyama: columns by longest path, edges over several columns cut by invisible boxes, each column
// sorted by the mean place of its neighbours, then stacked.
#include "runtime/plan/layered_layout.h"

#include <algorithm>
#include <numeric>

#include "common/topology.h"

namespace radl {

namespace {

constexpr double kColumnGap = 56, kRowGap = 14;
constexpr int kSweeps = 6;

class Layout {
 public:
  Layout(std::vector<LayoutBox>& boxes, std::vector<LayoutEdge>& edges) : boxes_(boxes), edges_(edges) {}

  LayoutSize run() {
    assign_columns();
    cut_edges();
    for (int sweep = 0; sweep < kSweeps; ++sweep) sort_columns(sweep % 2 == 0);
    place();
    trace_edges();
    return size_;
  }

 private:
  struct Cell {
    size_t column = 0;
    double place = 0;  // in its column, while sorting
    double y = 0;      // of its middle
    double height = 0;
    std::vector<size_t> left, right;
  };

  void assign_columns() {
    Waits waits(boxes_.size());
    for (const LayoutEdge& edge : edges_) waits[edge.to].push_back(edge.from);
    cells_.resize(boxes_.size());
    for (size_t box : topological_order(waits)) {
      for (size_t before : waits[box])
        cells_[box].column = std::max(cells_[box].column, cells_[before].column + 1);
    }
    for (size_t box = 0; box < boxes_.size(); ++box) cells_[box].height = boxes_[box].height;
  }

  void cut_edges() {
    for (const LayoutEdge& edge : edges_) {
      std::vector<size_t> way{edge.from};
      for (size_t column = cells_[edge.from].column + 1; column < cells_[edge.to].column; ++column) {
        Cell cell;
        cell.column = column;
        way.push_back(cells_.size());
        cells_.push_back(std::move(cell));
      }
      way.push_back(edge.to);
      for (size_t i = 0; i + 1 < way.size(); ++i) {
        cells_[way[i]].right.push_back(way[i + 1]);
        cells_[way[i + 1]].left.push_back(way[i]);
      }
      ways_.push_back(std::move(way));
    }
    for (size_t cell = 0; cell < cells_.size(); ++cell) {
      if (columns_.size() <= cells_[cell].column) columns_.resize(cells_[cell].column + 1);
      columns_[cells_[cell].column].push_back(cell);
    }
    for (const auto& column : columns_) number(column);
  }

  void number(const std::vector<size_t>& column) {
    for (size_t i = 0; i < column.size(); ++i) cells_[column[i]].place = static_cast<double>(i);
  }

  void sort_columns(bool rightwards) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      std::vector<size_t>& column = columns_[rightwards ? i : columns_.size() - 1 - i];
      std::vector<double> wanted(cells_.size());
      for (size_t cell : column) {
        const std::vector<size_t>& near = rightwards ? cells_[cell].left : cells_[cell].right;
        double sum = 0;
        for (size_t other : near) sum += cells_[other].place;
        wanted[cell] = near.empty() ? cells_[cell].place : sum / static_cast<double>(near.size());
      }
      std::stable_sort(column.begin(), column.end(),
                       [&](size_t a, size_t b) { return wanted[a] < wanted[b]; });
      number(column);
    }
  }

  // Columns are stacked, each centred on the highest.
  void place() {
    std::vector<double> heights;
    for (const auto& column : columns_) {
      double height = kRowGap * static_cast<double>(column.size() - 1);
      for (size_t cell : column) height += cells_[cell].height;
      heights.push_back(height);
      size_.height = std::max(size_.height, height);
    }
    double x = 0;
    for (size_t i = 0; i < columns_.size(); ++i) {
      double y = (size_.height - heights[i]) / 2, width = 0;
      for (size_t cell : columns_[i]) {
        cells_[cell].y = y + cells_[cell].height / 2;
        if (cell < boxes_.size()) {
          boxes_[cell].x = x;
          boxes_[cell].y = y;
          width = std::max(width, boxes_[cell].width);
        }
        y += cells_[cell].height + kRowGap;
      }
      lefts_.push_back(x);
      widths_.push_back(width);
      x += width + kColumnGap;
    }
    size_.width = std::max(0.0, x - kColumnGap);
  }

  void trace_edges() {
    for (size_t i = 0; i < edges_.size(); ++i) {
      LayoutEdge& edge = edges_[i];
      const std::vector<size_t>& way = ways_[i];
      const LayoutBox& from = boxes_[edge.from];
      edge.points.emplace_back(from.x + from.width, cells_[edge.from].y);
      // Past the wider boxes of its column before it turns.
      size_t first = cells_[edge.from].column;
      if (from.width < widths_[first])
        edge.points.emplace_back(lefts_[first] + widths_[first], cells_[edge.from].y);
      for (size_t k = 1; k + 1 < way.size(); ++k) {
        size_t column = cells_[way[k]].column;
        edge.points.emplace_back(lefts_[column], cells_[way[k]].y);
        edge.points.emplace_back(lefts_[column] + widths_[column], cells_[way[k]].y);
      }
      edge.points.emplace_back(boxes_[edge.to].x, cells_[edge.to].y);
    }
  }

  std::vector<LayoutBox>& boxes_;
  std::vector<LayoutEdge>& edges_;
  std::vector<Cell> cells_;  // the boxes, then the invisible ones
  std::vector<std::vector<size_t>> ways_, columns_;
  std::vector<double> lefts_, widths_;
  LayoutSize size_;
};

}  // namespace

LayoutSize layered_layout(std::vector<LayoutBox>& boxes, std::vector<LayoutEdge>& edges) {
  if (boxes.empty()) return {};
  return Layout(boxes, edges).run();
}

}  // namespace radl
