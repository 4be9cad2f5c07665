// A node's facts relevant for a program, and whether they suffice.
#pragma once

#include <string>

#include "runtime/steps/jobs/member.h"

namespace radl::program {

struct NodeFacts {
  int processors = 0;
  unsigned long long memory_bytes = 0;
  int gpus = 0;
  bool has_nvidia_smi = false;
  std::string gpu_trouble;  // nvidia-smi's error; it may show some GPUs nevertheless
  std::string python;       // platform of its Python: "Linux x86_64 cpython-3.11 glibc2.36"; empty: none
  std::string python_trouble;
  std::string container;  // container program: "podman", "apptainer"; empty: none
};

// Shell text that prints the facts. `python`: name or path of the interpreter; empty: not checked.
// `containers`: whether to look for container programs.
std::string node_facts_script(const std::string& python, bool containers);
// Parses its output from a node.
Result<NodeFacts> read_node_facts(const std::string& text, const std::string& address);
// `needs`: of a program (docs/ir.md). Unsupported names the node, the requirement and the actual value.
Status check_needs(const Json& needs, const NodeFacts& facts, const std::string& address);

// The remedy for an error of nvidia-smi.
std::string gpu_hint(const NodeFacts& facts);

// Shell text that prints the platform of a Python, for nodes and for this computer.
std::string python_kind_script(const std::string& python);

}  // namespace radl::program
