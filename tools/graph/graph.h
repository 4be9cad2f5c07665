// `radlc graph`: renders a program as a graph in the DOT language, for Graphviz.
#pragma once

#include <string>

#include "compiler/ir/ir.h"

namespace radl {

struct GraphOptions {
  bool machines = true;    // systems and the networks that join them
  bool steps = true;       // steps on the nodes and their order
  bool each_node = false;  // a box for every node and step; otherwise one box per system with "x 3"
};

// Deterministic for a given program.
std::string program_dot(const ir::Program& program, const GraphOptions& options = {});

}  // namespace radl
