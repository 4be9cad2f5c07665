// A generic directed acyclic graph: nodes are 0 .. size-1; an edge orders two nodes.
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
  // `first` must be done before `then`. Ignores duplicate edges.
  void add_edge(Id first, Id then);
  const std::vector<Id>& before(Id node) const { return before_[node]; }  // direct predecessors
  const std::vector<Id>& after(Id node) const { return after_[node]; }    // direct successors

  // Returns every node after its predecessors; among free nodes, the smallest ID first, so the order is
  // deterministic. Shorter than size() if there is a cycle.
  std::vector<Id> topological_order() const;
  // One cycle as a list of nodes, each waiting for the previous one; empty if there is none.
  std::vector<Id> find_cycle() const;
  // Weight of the longest path with cost(node) per node; fills `starts`, if given, with earliest starts.
  double longest_path(const std::function<double(Id)>& cost, std::vector<double>* starts = nullptr) const;

  // Graphviz output. An empty `label` hides the node.
  std::string to_dot(const std::string& name, const std::function<std::string(Id)>& label,
                     const std::function<std::string(Id)>& attributes = {}) const;

 private:
  std::vector<std::vector<Id>> before_, after_;
};

// Tracks which nodes may start now. Pure: independent of threads and of the meaning of nodes.
class ReadyQueue {
 public:
  // A tolerant node waits until its predecessors end; any other until they succeed.
  explicit ReadyQueue(const Dag& dag, std::vector<bool> tolerant = {});
  // The free nodes, smallest ID first; they stay until taken.
  const std::set<Dag::Id>& ready() const { return ready_; }
  void take(Dag::Id node);
  void finished(Dag::Id node);
  // Marks the node and all that depend on it as given up; returns the dependents that were not given up
  // before.
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
