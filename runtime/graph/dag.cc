// Order, cycles, paths and drawing.
#include "runtime/graph/dag.h"

#include <algorithm>
#include <queue>

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

std::vector<Dag::Id> Dag::topological_order() const {
  std::vector<size_t> missing(size());
  std::priority_queue<Id, std::vector<Id>, std::greater<>> free;
  for (Id node = 0; node < size(); ++node) {
    missing[node] = before_[node].size();
    if (missing[node] == 0) free.push(node);
  }
  std::vector<Id> order;
  order.reserve(size());
  while (!free.empty()) {
    Id node = free.top();
    free.pop();
    order.push_back(node);
    for (Id next : after_[node]) {
      if (--missing[next] == 0) free.push(next);
    }
  }
  return order;
}

std::vector<Dag::Id> Dag::find_cycle() const {
  std::vector<Id> order = topological_order();
  if (order.size() == size()) return {};
  std::vector<bool> placed(size());
  for (Id node : order) placed[node] = true;
  // Walk back from any node that was not placed: each such node waits for another one, so a node comes twice.
  Id node = static_cast<Id>(std::find(placed.begin(), placed.end(), false) - placed.begin());
  std::vector<size_t> seen_at(size(), SIZE_MAX);
  std::vector<Id> path;
  while (seen_at[node] == SIZE_MAX) {
    seen_at[node] = path.size();
    path.push_back(node);
    node = *std::find_if(before_[node].begin(), before_[node].end(), [&](Id b) { return !placed[b]; });
  }
  std::vector<Id> cycle(path.begin() + static_cast<std::ptrdiff_t>(seen_at[node]), path.end());
  std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

std::set<Dag::Id> Dag::dependents(Id node) const {
  std::set<Id> found;
  std::vector<Id> open{node};
  while (!open.empty()) {
    Id at = open.back();
    open.pop_back();
    for (Id next : after_[at]) {
      if (found.insert(next).second) open.push_back(next);
    }
  }
  return found;
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

std::string quoted(const std::string& text) {
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
      "digraph " + quoted(name) + " {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n";
  std::vector<bool> drawn(size());
  for (Id node = 0; node < size(); ++node) {
    std::string text = label(node);
    drawn[node] = !text.empty();
    if (!drawn[node]) continue;
    out += "  n" + std::to_string(node) + " [label=" + quoted(text);
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
