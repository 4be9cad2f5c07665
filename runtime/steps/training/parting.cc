#include "runtime/steps/training/parting.h"

#include <algorithm>
#include <map>

#include "common/json_values.h"
#include "runtime/base/job_members.h"
#include "runtime/steps/jobs/notices.h"

namespace radl::training {

Parting::Parting(const Json& training, const std::vector<NodeHandle>& nodes,
                 const std::vector<jobs::Process>& processes,
                 std::function<void(const std::string& line)> say, std::function<void(size_t node)> missed)
    : training_(training),
      nodes_(nodes),
      processes_(processes),
      say_(std::move(say)),
      missed_(std::move(missed)) {}

std::string Parting::text(size_t node, const std::string& when) const {
  return nodes_[node].address + " is preempted by its cloud " + (when.empty() ? "soon" : "at " + when);
}

bool Parting::preempted(size_t node, const Json& said) {
  const std::string when = json::text_of(said, "time");  // not every cloud says it
  if (!leaving_.notice(node, when)) return false;
  say_(text(node, when));
  return true;
}

std::optional<Status> Parting::check(const jobs::Ends& ends, const jobs::Following& following) {
  const std::map<size_t, std::string> leaving = leaving_.all();
  std::vector<size_t> lost;
  std::vector<std::string> addresses;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!leaving.contains(i) && !following.is_lost(i)) continue;
    lost.push_back(i);
    addresses.push_back(nodes_[i].address);
  }
  if (lost.empty()) return std::nullopt;
  const bool continues = continues_without(training_, addresses);
  if (!leaving.empty() && !continues) {
    const auto& [node, when] = *leaving.rbegin();
    return Status(jobs::kTakenBack, text(node, when) + "; a checkpoint was requested");
  }
  for (size_t node : lost) {
    const bool over = std::all_of(processes_.begin(), processes_.end(), [&](const jobs::Process& process) {
      return process.node != node || ends.contains(process.name);
    });
    if (!over || !continues) continue;
    {
      std::lock_guard lock(mutex_);
      if (!told_.insert(node).second) continue;
    }
    missed_(node);
  }
  return std::nullopt;
}

}  // namespace radl::training
