// Edges, paths and drawing.
#include "runtime/graph/dag.h"

#include <algorithm>

#include "common/topology.h"

namespace radl {

Dag::Id Dag::add() {
  before_.emplace_back();
  after_.emplace_back();
  return before_.size() - 1;
}

void Dag::add_edge(Id first, Id then) {
  std::vector<Id>& waits = before_[then];
  std::vector<Id>& waiting = after_[first];
  // Either list tells; the shorter one is looked through, so that a node with very many edges costs nothing.
  bool known = waits.size() < waiting.size()
                   ? std::find(waits.begin(), waits.end(), first) != waits.end()
                   : std::find(waiting.begin(), waiting.end(), then) != waiting.end();
  if (known) return;
  waits.push_back(first);
  waiting.push_back(then);
}

std::vector<Dag::Id> Dag::topological_order() const { return radl::topological_order(before_); }

std::vector<Dag::Id> Dag::find_cycle() const {
  std::vector<std::vector<Id>> cycles = find_cycles(before_);
  if (cycles.empty()) return {};
  std::reverse(cycles.front().begin(), cycles.front().end());
  return std::move(cycles.front());
}

double Dag::longest_path(const std::function<double(Id)>& cost, std::vector<double>* starts) const {
  std::vector<double> start(size(), 0);
  double longest = 0;
  for (Id node : topological_order()) {
    double end = start[node] + cost(node);
    longest = std::max(longest, end);
    for (Id next : after_[node]) start[next] = std::max(start[next], end);
  }
  if (starts) *starts = std::move(start);
  return longest;
}

namespace {

std::string dot_string(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

std::string Dag::to_dot(const std::string& name, const std::function<std::string(Id)>& label,
                        const std::function<std::string(Id)>& attributes) const {
  std::string out =
      "digraph " + dot_string(name) + " {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n";
  std::vector<bool> drawn(size());
  for (Id node = 0; node < size(); ++node) {
    std::string text = label(node);
    drawn[node] = !text.empty();
    if (!drawn[node]) continue;
    out += "  n" + std::to_string(node) + " [label=" + dot_string(text);
    if (std::string more = attributes ? attributes(node) : ""; !more.empty()) out += ", " + more;
    out += "];\n";
  }
  for (Id node = 0; node < size(); ++node) {
    for (Id next : after_[node]) {
      if (drawn[node] && drawn[next])
        out += "  n" + std::to_string(node) + " -> n" + std::to_string(next) + ";\n";
    }
  }
  return out + "}\n";
}

}  // namespace radl
