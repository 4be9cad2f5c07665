// The training engine on a node: the program and, on another machine, the libraries that it needs with their
// loader. Nothing is installed there.
#pragma once

#include <string>

#include "runtime/steps/step_runner.h"

namespace radl::training {

struct Engine {
  std::string folder;   // on the node
  std::string command;  // shell words that run it
  bool sent = false;    // something had to be sent
};

// Brings it by content hash; the folder's name holds the digest of all that is in it. Unsupported for a node
// of another processor architecture.
Result<Engine> place_engine(const NodeHandle& node, const Context& context);

}  // namespace radl::training
