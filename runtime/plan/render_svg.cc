#include "runtime/plan/render_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/html.h"
#include "common/topology.h"
#include "runtime/plan/layered_layout.h"
#include "runtime/plan/ordinals.h"

namespace radl {

namespace {

constexpr size_t kMostSingly = 24;  // actions; more are folded
constexpr size_t kMostBoxes = 300;
constexpr size_t kWidestText = 46;  // characters
constexpr double kCharacter = 7.3, kLine = 17, kPadding = 8, kMargin = 6;

// At most `most` characters of UTF-8, with an ellipsis for the rest.
std::string shortened(const std::string& text, size_t most) {
  size_t characters = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) continue;
    if (++characters > most) return text.substr(0, at) + "…";
  }
  return text;
}

double width_of(const std::string& text) {
  auto starts = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  return kCharacter * static_cast<double>(std::count_if(text.begin(), text.end(), starts));
}

struct Box {
  std::string style;                // class of the page's styles: a verb, or "barrier"
  std::string mark, name, summary;  // the name without ordinals where there are several
  std::string prefix, suffix;
  std::vector<int> ordinals;

  std::string title() const {
    if (ordinals.empty()) return name;
    return prefix + "[" + ranges(ordinals) + "]" + suffix;
  }
  std::string first_line() const {
    return shortened(mark.empty() ? title() : mark + " " + title(), kWidestText);
  }
  std::string second_line() const { return shortened(summary, kWidestText); }
};

class Drawing {
 public:
  Drawing(const Plan& plan, bool folds) : plan_(plan), folds_(folds) {
    for (const Action& action : plan.actions) add(action);
    for (const Barrier& barrier : plan.barriers) {
      box_of_[barrier.id] = boxes_.size();
      boxes_.push_back({"barrier", "", barrier.id, "", "", "", {}});
    }
    for (const Action& action : plan.actions) {
      connect(action.needs, action.id);
      if (action.verb == Verb::Delete) connect(action.removed_after, action.id);
    }
    for (const Barrier& barrier : plan.barriers) connect(barrier.needs, barrier.id);
  }

  bool is_empty() const { return boxes_.empty(); }
  bool is_too_large() const { return boxes_.size() > kMostBoxes; }
  // Folding may close one: a waits for b on one node and b for a on another.
  bool has_cycle() const { return !find_cycles(waits()).empty(); }

  std::string svg() const {
    std::vector<LayoutBox> places;
    for (const Box& box : boxes_) places.push_back(size_of(box));
    std::vector<LayoutEdge> edges;
    for (const auto& [from, to] : reduced()) edges.push_back({from, to, {}});
    LayoutSize size = layered_layout(places, edges);
    double width = size.width + 2 * kMargin, height = size.height + 2 * kMargin;
    std::string out = fmt::format(
        "<svg role=\"img\" aria-label=\"what waits for what\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\"><defs><marker id=\"end\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
        "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path class=\"end\" d=\"M0 0L8 4L0 "
        "8z\"/></marker></defs>\n"
        "<g transform=\"translate({2:.0f} {2:.0f})\">\n",
        width, height, kMargin);
    for (const LayoutEdge& edge : edges) out += path(edge);
    for (size_t i = 0; i < boxes_.size(); ++i) out += drawn(boxes_[i], places[i]);
    return out + "</g></svg>\n";
  }

 private:
  void add(const Action& action) {
    Box box{std::string(verb_name(action.verb)),
            std::string(verb_mark(action.verb)),
            action.id,
            action.summary,
            "",
            "",
            {}};
    int ordinal = 0;
    if (folds_ && split_ordinal(action.id, box.prefix, ordinal, box.suffix)) {
      auto [at, fresh] =
          folded_.try_emplace(box.style + "\n" + box.prefix + "\n" + box.suffix, boxes_.size());
      box_of_[action.id] = at->second;
      if (!fresh) {
        boxes_[at->second].ordinals.push_back(ordinal);
        return;
      }
      box.ordinals = {ordinal};
    } else {
      box_of_[action.id] = boxes_.size();
    }
    boxes_.push_back(std::move(box));
  }

  void connect(const std::vector<std::string>& before, const std::string& id) {
    for (const std::string& need : before) {
      auto from = box_of_.find(need);
      if (from != box_of_.end() && from->second != box_of_.at(id))
        edges_.emplace(from->second, box_of_.at(id));
    }
  }

  Waits waits() const {
    Waits all(boxes_.size());
    for (const auto& [from, to] : edges_) all[to].push_back(from);
    return all;
  }

  // Without the edges that follow from others.
  std::vector<std::pair<size_t, size_t>> reduced() const {
    Waits before = waits();
    std::vector<std::vector<bool>> reach(boxes_.size(), std::vector<bool>(boxes_.size()));
    std::vector<std::pair<size_t, size_t>> kept;
    for (size_t box : topological_order(before)) {
      for (size_t direct : before[box]) {
        for (size_t i = 0; i < boxes_.size(); ++i) reach[box][i] = reach[box][i] || reach[direct][i];
      }
      for (size_t direct : before[box]) {
        if (!reach[box][direct]) kept.emplace_back(direct, box);
      }
      for (size_t direct : before[box]) reach[box][direct] = true;
    }
    return kept;
  }

  static LayoutBox size_of(const Box& box) {
    LayoutBox size;
    size.width = std::max(width_of(box.first_line()), width_of(box.second_line())) + 2 * kPadding;
    size.height = (box.summary.empty() ? 1 : 2) * kLine + kPadding;
    return size;
  }

  static std::string path(const LayoutEdge& edge) {
    std::string d = fmt::format("M{:.1f} {:.1f}", edge.points[0].first, edge.points[0].second);
    for (size_t i = 1; i < edge.points.size(); ++i) {
      auto [x1, y1] = edge.points[i - 1];
      auto [x2, y2] = edge.points[i];
      double middle = (x1 + x2) / 2;
      d += fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", middle, y1, middle, y2, x2, y2);
    }
    return fmt::format("<path class=\"edge\" marker-end=\"url(#end)\" d=\"{}\"/>\n", d);
  }

  static std::string drawn(const Box& box, const LayoutBox& place) {
    double radius = box.style == "barrier" ? place.height / 2 : 4;
    std::string out = fmt::format(
        "<g class=\"{}\"><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"{:.1f}\"/>",
        box.style, escape_html(box.title() + (box.summary.empty() ? "" : ": " + box.summary)), place.x,
        place.y, place.width, place.height, radius);
    double x = place.x + kPadding, y = place.y + kLine;
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x, y, escape_html(box.first_line()));
    if (!box.summary.empty()) {
      out += fmt::format("<text class=\"why\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x, y + kLine,
                         escape_html(box.second_line()));
    }
    return out + "</g>\n";
  }

  const Plan& plan_;
  bool folds_;
  std::vector<Box> boxes_;
  std::map<std::string, size_t> box_of_, folded_;
  std::set<std::pair<size_t, size_t>> edges_;
};

}  // namespace

std::string render_svg(const Plan& plan) {
  Drawing drawing(plan, plan.actions.size() > kMostSingly);
  if (drawing.is_empty() || drawing.is_too_large()) return "";
  if (!drawing.has_cycle()) return drawing.svg();
  Drawing singly(plan, false);
  return singly.is_too_large() || singly.has_cycle() ? "" : singly.svg();
}

}  // namespace radl
