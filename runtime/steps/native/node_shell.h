// The shell for a step's scripts on its node: the login's own, or root's if sudo allows it.
#pragma once

#include <string>

#include "runtime/net/lease.h"
#include "runtime/steps/native/resource.h"

namespace radl::native {

class NodeShell {
 public:
  // The first look fills `facts` (take_facts). `secrets` may be nullptr. `name` begins each message.
  NodeShell(const NodeHandle& node, const ir::Secrets* secrets, Facts& facts, std::string name);

  Status connect();
  Remote& remote() const { return *remote_; }

  // Shell text that reports the user, in one line for take_facts().
  std::string asking_who() const;
  void take_facts(const std::vector<std::string>& parts);

  // Runs a script, given as options.stdin_bytes.
  Result<ExecResult> run(const char* what, const ExecOptions& options);
  // Same under a lease of the node, for changes.
  Result<ExecResult> run_under(const Lease& lease, const std::string& what, const ExecOptions& options);

  Status no_root(const std::string& label) const;
  // A possible cause of a failure; empty unless a given password was rejected.
  std::string refusal() const;

 private:
  std::string command(ExecOptions& options) const;
  Result<ExecResult> exec(const std::string& command, const ExecOptions& options, const std::string& what);

  const NodeHandle& node_;
  Facts& facts_;
  std::string name_;
  std::string password_;  // for sudo; empty: none
  std::string sudo_;      // from sudo_state; "given": it accepts the password
  Remote* remote_ = nullptr;
};

}  // namespace radl::native
