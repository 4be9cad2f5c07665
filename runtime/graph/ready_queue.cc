// Which nodes may start, as others end.
#include <cassert>

#include "runtime/graph/dag.h"

namespace radl {

ReadyQueue::ReadyQueue(const Dag& dag, std::vector<bool> tolerant)
    : dag_(dag),
      tolerant_(std::move(tolerant)),
      missing_(dag.size()),
      marks_(dag.size(), Mark::Waiting),
      open_(dag.size()) {
  tolerant_.resize(dag.size(), false);
  for (Dag::Id node = 0; node < dag.size(); ++node) {
    missing_[node] = dag.before(node).size();
    if (missing_[node] == 0) {
      marks_[node] = Mark::Ready;
      ready_.insert(node);
    }
  }
}

void ReadyQueue::take(Dag::Id node) {
  assert(marks_[node] == Mark::Ready);
  ready_.erase(node);
  marks_[node] = Mark::Running;
}

// One that is over, well or not: whoever waited for it and for nothing else is free.
void ReadyQueue::ended(Dag::Id node) {
  --open_;
  for (Dag::Id next : dag_.after(node)) {
    if (--missing_[next] == 0 && marks_[next] == Mark::Waiting) {
      marks_[next] = Mark::Ready;
      ready_.insert(next);
    }
  }
}

void ReadyQueue::finished(Dag::Id node) {
  assert(marks_[node] == Mark::Running);
  marks_[node] = Mark::Done;
  ended(node);
}

std::vector<Dag::Id> ReadyQueue::failed(Dag::Id node) {
  ready_.erase(node);
  marks_[node] = Mark::GivenUp;
  std::vector<Dag::Id> given_up, over{node};
  for (size_t at = 0; at < over.size(); ++at) {
    for (Dag::Id next : dag_.after(over[at])) {
      if (tolerant_[next] || (marks_[next] != Mark::Waiting && marks_[next] != Mark::Ready)) continue;
      ready_.erase(next);
      marks_[next] = Mark::GivenUp;
      given_up.push_back(next);
      over.push_back(next);
    }
  }
  for (Dag::Id gone : over) ended(gone);
  return given_up;
}

}  // namespace radl
