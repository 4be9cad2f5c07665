#include "common/topology.h"

#include <algorithm>
#include <cstdint>
#include <queue>

namespace radl {

namespace {

constexpr size_t kNowhere = SIZE_MAX;

// Tarjan's strongly connected components, with a stack of its own: a chain of steps may be very long.
class Components {
 public:
  explicit Components(const Waits& waits)
      : waits_(waits),
        number_(waits.size(), kNowhere),
        lowest_(waits.size()),
        component_(waits.size(), kNowhere) {
    for (size_t v = 0; v < waits_.size(); v++) {
      if (number_[v] == kNowhere) search(v);
    }
  }

  // The component of each vertex: vertices with the same number wait for each other.
  const std::vector<size_t>& of() const { return component_; }

 private:
  struct Frame {
    size_t vertex, next;
  };

  void search(size_t root) {
    std::vector<Frame> frames;
    enter(root, frames);
    while (!frames.empty()) {
      auto& [v, next] = frames.back();
      if (next < waits_[v].size()) {
        size_t w = waits_[v][next++];
        if (number_[w] == kNowhere)
          enter(w, frames);
        else if (component_[w] == kNowhere)
          lowest_[v] = std::min(lowest_[v], number_[w]);
        continue;
      }
      size_t done = v;
      frames.pop_back();
      if (!frames.empty())
        lowest_[frames.back().vertex] = std::min(lowest_[frames.back().vertex], lowest_[done]);
      if (lowest_[done] == number_[done]) close(done);
    }
  }

  void enter(size_t v, std::vector<Frame>& frames) {
    number_[v] = lowest_[v] = count_++;
    open_.push_back(v);
    frames.push_back({v, 0});
  }

  void close(size_t root) {
    while (component_[root] == kNowhere) {
      component_[open_.back()] = components_;
      open_.pop_back();
    }
    components_++;
  }

  const Waits& waits_;
  std::vector<size_t> number_, lowest_, component_, open_;
  size_t count_ = 0, components_ = 0;
};

// The shortest path from `start` back to itself within its component; empty if there is none. `via` is
// scratch: kNowhere for every vertex of the component.
std::vector<size_t> way_round(const Waits& waits, const std::vector<size_t>& component, size_t start,
                              std::vector<size_t>& via) {
  std::vector<size_t> open{start};
  for (size_t i = 0; i < open.size(); i++) {
    size_t v = open[i];
    for (size_t w : waits[v]) {
      if (w == start) {
        std::vector<size_t> way;
        for (; v != start; v = via[v]) way.push_back(v);
        way.push_back(start);
        std::reverse(way.begin(), way.end());
        return way;
      }
      if (component[w] != component[start] || via[w] != kNowhere) continue;
      via[w] = v;
      open.push_back(w);
    }
  }
  return {};
}

}  // namespace

std::vector<size_t> topological_order(const Waits& waits,
                                      const std::function<bool(size_t, size_t)>& earlier) {
  std::vector<size_t> missing(waits.size());
  std::vector<std::vector<size_t>> behind(waits.size());
  auto later = [&](size_t a, size_t b) { return earlier(b, a); };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> free(later);
  for (size_t v = 0; v < waits.size(); v++) {
    for (size_t first : waits[v]) behind[first].push_back(v);
    missing[v] = waits[v].size();
    if (missing[v] == 0) free.push(v);
  }
  std::vector<size_t> order;
  order.reserve(waits.size());
  while (!free.empty()) {
    size_t v = free.top();
    free.pop();
    order.push_back(v);
    for (size_t next : behind[v]) {
      if (--missing[next] == 0) free.push(next);
    }
  }
  return order;
}

std::vector<std::vector<size_t>> find_cycles(const Waits& waits) {
  Components components(waits);
  const std::vector<size_t>& component = components.of();
  std::vector<bool> seen(waits.size(), false);
  std::vector<size_t> via(waits.size(), kNowhere);
  std::vector<std::vector<size_t>> cycles;
  for (size_t v = 0; v < waits.size(); v++) {
    if (seen[component[v]]) continue;
    seen[component[v]] = true;
    if (std::vector<size_t> way = way_round(waits, component, v, via); !way.empty())
      cycles.push_back(std::move(way));
  }
  return cycles;
}

}  // namespace radl
