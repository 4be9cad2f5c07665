// A directed acyclic graph that knows no domain: nodes are 0 .. size-1, an edge says who must come first.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace radl {

class Dag {
 public:
  using Id = size_t;
  explicit Dag(size_t size = 0) : before_(size), after_(size) {}

  Id add();
  size_t size() const { return before_.size(); }
  // `first` must be done before `then`. A second equal edge is ignored.
  void add_edge(Id first, Id then);
  const std::vector<Id>& before(Id node) const { return before_[node]; }  // what it waits for
  const std::vector<Id>& after(Id node) const { return after_[node]; }    // what waits for it

  // Every node after all that it waits for; among those that are free, the smallest id first, so the order is
  // the same for the same graph. Shorter than size() when there is a cycle.
  std::vector<Id> topological_order() const;
  // One cycle as a list of nodes, each waiting for the one before it; empty when there is none.
  std::vector<Id> find_cycle() const;
  // The longest path's weight: cost(node) each; and when each node starts on it, if `starts` is given.
  double longest_path(const std::function<double(Id)>& cost, std::vector<double>* starts = nullptr) const;

  // Graphviz. `label` may be empty for a node that is not to be drawn.
  std::string to_dot(const std::string& name, const std::function<std::string(Id)>& label,
                     const std::function<std::string(Id)>& attributes = {}) const;

 private:
  std::vector<std::vector<Id>> before_, after_;
};

// What may start now. Pure: knows neither threads nor what a node stands for.
class ReadyQueue {
 public:
  // A tolerant node waits for the end of what comes before it; any other for its success.
  explicit ReadyQueue(const Dag& dag, std::vector<bool> tolerant = {});
  // The free nodes, smallest id first; they stay until taken.
  const std::set<Dag::Id>& ready() const { return ready_; }
  void take(Dag::Id node);
  void finished(Dag::Id node);
  // It and everything that waits for it will not be done; returns the dependents that were not already given
  // up.
  std::vector<Dag::Id> failed(Dag::Id node);
  bool done() const { return open_ == 0; }  // every node is finished or given up

 private:
  enum class Mark : char { Waiting, Ready, Running, Done, GivenUp };
  void ended(Dag::Id node);
  const Dag& dag_;
  std::vector<bool> tolerant_;
  std::vector<size_t> missing_;
  std::vector<Mark> marks_;
  std::set<Dag::Id> ready_;
  size_t open_;
};

}  // namespace radl
