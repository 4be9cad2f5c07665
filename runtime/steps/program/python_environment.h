// Python packages from a lock file, installed once per machine type and copied to nodes by content.
//
// An environment is a folder made by `pip install --target`: on PYTHONPATH, with its scripts in bin/. It is
// built on this computer if the nodes have the same platform, else on the first node of each platform, and
// stored in the user's cache.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "runtime/steps/jobs/member.h"
#include "runtime/steps/program/facts.h"

namespace radl::program {

class PythonEnvironment {
 public:
  // `python`: of a program (docs/ir.md); must outlive this object. `say`: for lines about slow operations.
  PythonEnvironment(const Json& python, const Context& context,
                    std::function<void(const std::string& line)> say)
      : python_(python), context_(context), say_(std::move(say)) {}

  bool wanted() const { return python_.contains("requirements"); }
  // The folder on nodes of this platform; empty if none is needed.
  std::string folder(const NodeFacts& facts) const;
  // Thread-safe for different nodes. True: it was sent. Unsupported: neither pip nor venv is available.
  Result<bool> bring(const NodeHandle& node, jobs::Member& member, const NodeFacts& facts);

 private:
  std::string key(const NodeFacts& facts) const;
  Result<std::string> archive(const NodeHandle& node, jobs::Member& member, const NodeFacts& facts);
  Status make_here(const std::string& archive);
  Status make_on(const NodeHandle& node, jobs::Member& member, const std::string& key,
                 const std::string& archive);
  Status check_unchanged() const;

  const Json& python_;
  const Context& context_;
  std::function<void(const std::string& line)> say_;
  std::mutex mutex_;
  std::map<std::string, Status> failed_;  // by key, so that a failure is not repeated for each node
};

}  // namespace radl::program
