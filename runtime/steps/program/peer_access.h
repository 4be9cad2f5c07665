// SSH from a program's chief to all its nodes, for launchers that start processes over SSH.
//
//   ~/.radl/jobs/<job>/ssh/  key  known_hosts  config  bin/ssh     on the chief
//
// The key is created on the chief for this run and never leaves it; its public half is a line in the nodes'
// ~/.ssh/authorized_keys that ends with the job's name. `bin/ssh` is OpenSSH's with this configuration;
// processes it starts carry the job's mark on their node (process_script.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/steps/jobs/member.h"

namespace radl::program {

class PeerAccess {
 public:
  // All arguments must outlive this object; `job`: the folder's name.
  PeerAccess(const std::vector<NodeHandle>& nodes, const std::vector<std::unique_ptr<jobs::Member>>& members,
             const Context& context, std::string job)
      : nodes_(nodes), members_(members), context_(context), job_(std::move(job)) {}

  // Unsupported: the chief has no OpenSSH client. `folder`: of the job there, absolute.
  Status open(const std::string& folder);
  // On reachable nodes, ends processes started through it and removes the key.
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
