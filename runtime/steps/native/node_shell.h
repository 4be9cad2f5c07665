// The shell that a step's scripts run in on its node: the login's own, or root's where sudo gives one.
#pragma once

#include <string>

#include "runtime/net/lease.h"
#include "runtime/steps/native/resource.h"

namespace radl::native {

class NodeShell {
 public:
  // `facts` is filled by the first look (take_facts). `secrets` may be nullptr. `name` begins each message.
  NodeShell(const NodeHandle& node, const ir::Secrets* secrets, Facts& facts, std::string name);

  Status connect();
  Remote& remote() const { return *remote_; }

  // Shell text that says who we are, in one line for take_facts().
  std::string asking_who() const;
  void take_facts(const std::vector<std::string>& parts);

  // A script, given as options.stdin_bytes.
  Result<ExecResult> run(const char* what, const ExecOptions& options);
  // The same under a lease of the node: for what changes it.
  Result<ExecResult> run_under(const Lease& lease, const std::string& what, const ExecOptions& options);

  Status no_root(const std::string& label) const;
  // What a failure may come of: empty unless a password was given and not taken.
  std::string refusal() const;

 private:
  std::string command(ExecOptions& options) const;
  Result<ExecResult> exec(const std::string& command, const ExecOptions& options, const std::string& what);

  const NodeHandle& node_;
  Facts& facts_;
  std::string name_;
  std::string password_;  // for sudo; empty: none is given
  std::string sudo_;      // as sudo_state prints it; "given": it takes the password
  Remote* remote_ = nullptr;
};

}  // namespace radl::native
