// Tracks for the state on which nodes processes of a job may run (StepContext::may_run).
#pragma once

#include <vector>

#include "runtime/steps/jobs/following.h"

namespace radl::jobs {

class MayRun {
 public:
  // All arguments must outlive this object.
  MayRun(const StepContext& context, const std::vector<NodeHandle>& nodes)
      : nodes_(nodes), known_(context.may_run) {}

  // As reported by the nodes.
  void take(const std::vector<Member::Look>& looks) {
    for (size_t i = 0; i < nodes_.size(); ++i) set(i, looks[i].runs());
  }
  void at(size_t node) { set(node, true); }
  void everywhere() {
    for (size_t i = 0; i < nodes_.size(); ++i) set(i, true);
  }
  void nowhere() {
    for (size_t i = 0; i < nodes_.size(); ++i) set(i, false);
  }
  // After a run was followed to its end: clears nodes that have confirmed it.
  void take(const Following& following) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (following.has_ended(i)) set(i, false);
    }
  }

 private:
  void set(size_t node, bool may) {
    if (known_ && may) known_->insert(nodes_[node].address);
    if (known_ && !may) known_->erase(nodes_[node].address);
  }

  const std::vector<NodeHandle>& nodes_;
  std::set<std::string>* known_;
};

}  // namespace radl::jobs
