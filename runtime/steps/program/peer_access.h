// SSH from the chief of a program to all its nodes, for launchers that start their processes that way.
//
//   ~/.radl/jobs/<job>/ssh/  key  known_hosts  config  bin/ssh     of the chief
//
// The key is made on the chief for this run and never leaves it; the other half is a line of the nodes'
// ~/.ssh/authorized_keys, which ends with the job's name. `bin/ssh` is OpenSSH's with this configuration;
// what it starts carries the job's mark on its node (process_script.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/steps/jobs/member.h"

namespace radl::program {

class PeerAccess {
 public:
  // All outlive it; `job`: the folder's name.
  PeerAccess(const std::vector<NodeHandle>& nodes, const std::vector<std::unique_ptr<jobs::Member>>& members,
             const Context& context, std::string job)
      : nodes_(nodes), members_(members), context_(context), job_(std::move(job)) {}

  // Unsupported where the chief has no OpenSSH client. `folder`: of the job there, absolute.
  Status open(const std::string& folder);
  // Ends what was started by it on nodes that can be reached, and takes the key away from them.
  Status close(const std::vector<bool>& lost);

 private:
  Result<std::string> make_key();
  Status admit(size_t node, const std::string& public_key);
  std::string configuration(const std::string& folder) const;
  std::string known_hosts() const;

  const std::vector<NodeHandle>& nodes_;
  const std::vector<std::unique_ptr<jobs::Member>>& members_;
  const Context& context_;
  const std::string job_;
};

}  // namespace radl::program
