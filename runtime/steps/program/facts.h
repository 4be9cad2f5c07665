// What a node is, as a program needs to know it, and whether it is enough.
#pragma once

#include <string>

#include "runtime/steps/jobs/member.h"

namespace radl::program {

struct NodeFacts {
  int processors = 0;
  unsigned long long memory_bytes = 0;
  int gpus = 0;
  bool has_nvidia_smi = false;
  std::string gpu_trouble;  // what nvidia-smi complains of; it may show some GPUs beside
  std::string python;       // kind of its Python: "Linux x86_64 cpython-3.11 glibc2.36"; empty: there is none
  std::string python_trouble;
  std::string container;  // the program that runs containers there: "podman", "apptainer"; empty: none
};

// Shell text that prints the facts. `python`: the interpreter's name or path; empty: it is not looked for, as
// are programs for containers unless `containers`.
std::string node_facts_script(const std::string& python, bool containers);
// What it has printed on a node.
Result<NodeFacts> read_node_facts(const std::string& text, const std::string& address);
// `needs`: of a program (docs/ir.md). Unsupported names the node, what is asked and what it has.
Status check_needs(const Json& needs, const NodeFacts& facts, const std::string& address);

// What to do about a complaint of nvidia-smi.
std::string gpu_hint(const NodeFacts& facts);

// Shell text that prints the kind of a Python; for nodes and for this computer.
std::string python_kind_script(const std::string& python);

}  // namespace radl::program
