// Prepares a program's nodes before its members start: facts, the program's files, inputs and Python
// packages.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/steps/jobs/member.h"
#include "runtime/steps/jobs/tree.h"
#include "runtime/steps/program/facts.h"
#include "runtime/steps/program/python_environment.h"

namespace radl::program {

// The tree of a program's `source` (docs/ir.md).
Result<jobs::Tree> source_tree(const Json& source);

class Preparing {
 public:
  // A line about a node ("" for all), for the log and the user.
  using Tell = std::function<void(const std::string& node, const std::string& what)>;
  // All arguments must outlive this object.
  Preparing(const Json& program, const std::vector<NodeHandle>& nodes,
            const std::vector<std::unique_ptr<jobs::Member>>& members, const Context& context, Tell tell);

  // For Member::look().
  std::string looking_script() const;
  // Parses the nodes' facts from that script's output and checks them; sends nothing. A look without a home
  // belongs to an unreachable node.
  Status look(const std::vector<jobs::Member::Look>& looks);
  // Prepares all nodes concurrently. With `fresh`, removes everything of earlier runs; otherwise keeps
  // checkpoints and the working folder.
  Status bring(bool fresh);
  Status bring(size_t node, bool fresh);  // a single node
  const NodeFacts& facts(size_t node) const { return facts_[node]; }
  // The folder of its Python packages on a node, "~/..." or empty.
  std::string environment(size_t node) const { return python_.folder(facts_[node]); }

 private:
  Result<uint64_t> bring_source(size_t node, std::string& script);
  Result<uint64_t> bring_inputs(size_t node, std::string& script);
  // The locations of its trees on a node.
  Result<std::vector<std::string>> trees_of(size_t node) const;
  std::string other_files_script() const;
  bool needs_python() const;

  const Json& program_;
  const std::vector<NodeHandle>& nodes_;
  const std::vector<std::unique_ptr<jobs::Member>>& members_;
  const Context& context_;
  Tell tell_;
  PythonEnvironment python_;
  std::vector<NodeFacts> facts_;
};

}  // namespace radl::program
