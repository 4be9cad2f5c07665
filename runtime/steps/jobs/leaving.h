// Nodes of a job that their clouds preempt, as the threads that follow them learn it.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/steps/jobs/following.h"

namespace radl::jobs {

class Leaving {
 public:
  // The cloud of a node has announced that it preempts it, and when; true: for the first time.
  bool notice(size_t node, const std::string& when) {
    std::lock_guard lock(mutex_);
    return leaving_.emplace(node, when).second;
  }
  // A node that cannot ask its cloud; true: for the first time.
  bool cannot_hear(size_t node) {
    std::lock_guard lock(mutex_);
    return deaf_.insert(node).second;
  }
  // Its member was asked to end, and the others go on.
  void part_with(size_t node) {
    std::lock_guard lock(mutex_);
    parted_.insert(node);
  }
  bool leaves(size_t node) const {
    std::lock_guard lock(mutex_);
    return leaving_.contains(node);
  }
  bool has_parted(size_t node) const {
    std::lock_guard lock(mutex_);
    return parted_.contains(node);
  }
  // Node -> when, as its cloud says it.
  std::map<size_t, std::string> all() const {
    std::lock_guard lock(mutex_);
    return leaving_;
  }
  // However a member ends that was asked to for its machine's sake, it is missed and has not failed.
  Ends as_missed(Ends ends, const std::vector<Process>& processes) const {
    std::lock_guard lock(mutex_);
    for (size_t node : parted_)
      if (auto end = ends.find(processes[node].name); end != ends.end() && end->second > 0) end->second = -1;
    return ends;
  }

 private:
  mutable std::mutex mutex_;
  std::map<size_t, std::string> leaving_;
  std::set<size_t> parted_, deaf_;
};

}  // namespace radl::jobs
