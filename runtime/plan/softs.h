// Soft features: what a system would rather have, in groups with weights.
//
// The groups of a node are tried from the largest weight to the smallest. A group that contradicts what is
// asked for so far, or that the cloud cannot give together with it, is dropped whole; any other one
// becomes part of what is asked for. The score is the sum of the weights that were taken.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"

namespace radl {

// What two requirements ask for together; Invalid when nothing meets both.
Result<ir::Requirement> both(const ir::Requirement& a, const ir::Requirement& b);

struct SoftTaken {
  double weight = 0;
  std::string features;  // "gpu.count, gpu.model"
  ir::Node without;      // the node with the groups taken before this one only
};

struct SoftOutcome {
  ir::Node node;  // with the requirements of every group that was taken
  double score = 0, most = 0;
  std::vector<SoftTaken> taken;      // by weight, the largest first
  std::vector<std::string> dropped;  // "weight 5: gpu.count: ..." for each group that was not
};

// `possible` says whether the cloud can make a node.
SoftOutcome resolve_softs(const ir::Node& node, const std::function<Status(const ir::Node&)>& possible);

}  // namespace radl
