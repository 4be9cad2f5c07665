// Nodes that a training loses at run time: preempted or unreachable. The others continue if possible; the
// caller replaces the nodes, and their workers join the training.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/steps/jobs/following.h"
#include "runtime/steps/jobs/leaving.h"

namespace radl::training {

class Parting {
 public:
  // All arguments must outlive it. `say` logs a line; `missed` is called once per node that is given up.
  Parting(const Json& training, const std::vector<NodeHandle>& nodes,
          const std::vector<jobs::Process>& processes, std::function<void(const std::string& line)> say,
          std::function<void(size_t node)> missed);

  // The node will be preempted, according to its process. True for the first report. Its workers leave by
  // themselves; if the training needs the node, check() ends everything with a checkpoint.
  bool preempted(size_t node, const Json& said);
  bool leaves(size_t node) const { return leaving_.leaves(node); }
  // How the training ends because of such nodes, if it does.
  std::optional<Status> check(const jobs::Ends& ends, const jobs::Following& following);

 private:
  std::string text(size_t node, const std::string& when) const;

  const Json& training_;
  const std::vector<NodeHandle>& nodes_;
  const std::vector<jobs::Process>& processes_;
  const std::function<void(const std::string&)> say_;
  const std::function<void(size_t)> missed_;
  jobs::Leaving leaving_;
  std::mutex mutex_;
  std::set<size_t> told_;
};

}  // namespace radl::training
