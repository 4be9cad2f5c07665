// Nodes of a job that are being preempted, as learned by the threads that follow them.
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
  // A node's cloud has announced its preemption and the time. True for the first report.
  bool notice(size_t node, const std::string& when) {
    std::lock_guard lock(mutex_);
    return leaving_.emplace(node, when).second;
  }
  // A node that cannot query its cloud. True for the first report.
  bool cannot_hear(size_t node) {
    std::lock_guard lock(mutex_);
    return deaf_.insert(node).second;
  }
  // Its member was asked to end; the others continue.
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
  // Node -> announced time.
  std::map<size_t, std::string> all() const {
    std::lock_guard lock(mutex_);
    return leaving_;
  }
  // A member that was asked to end because of its machine counts as missed, not failed, however it ends.
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
