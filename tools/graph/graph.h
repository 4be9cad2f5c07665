// `radlc graph`: a program as a graph in the DOT language, for graphviz.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace radl {

struct GraphOptions {
  bool machines = true;    // systems and the networks that join them
  bool steps = true;       // what is done on them, and in which order
  bool each_node = false;  // every node and step by itself; otherwise one box for a system and "x 3"
};

// The same text for the same program.
std::string program_dot(const ir::Program& program, const GraphOptions& options = {});

}  // namespace radl
