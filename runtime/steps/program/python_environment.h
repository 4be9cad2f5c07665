// Python packages from a lock file, installed once for each kind of machine and brought to nodes by content.
//
// An environment is a folder made by `pip install --target`: on PYTHONPATH, its scripts in bin/. It is made
// on this computer where that is of the nodes' kind, else on the first node of each kind; what was made is
// kept in the user's cache.
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
  // `python`: of a program (docs/ir.md); it outlives this. `say` gets a line about what takes time.
  PythonEnvironment(const Json& python, const Context& context,
                    std::function<void(const std::string& line)> say)
      : python_(python), context_(context), say_(std::move(say)) {}

  bool wanted() const { return python_.contains("requirements"); }
  // The folder on nodes of this kind; empty where none is wanted.
  std::string folder(const NodeFacts& facts) const;
  // Nodes may be worked on side by side. True: it was sent. Unsupported: neither pip nor venv is there.
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
  std::map<std::string, Status> failed_;  // by key: not tried once for each node
};

}  // namespace radl::program
