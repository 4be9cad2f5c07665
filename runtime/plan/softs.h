// Soft features: a system's preferences, in groups with weights.
//
// A node's groups are tried by descending weight. A group that contradicts the requirements so far, or that
// the cloud cannot provide together with them, is dropped as a whole; any other becomes part of the
// requirements. The score is the sum of the accepted weights.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"

namespace radl {

// The conjunction of two requirements. Invalid: they contradict each other.
Result<ir::Requirement> both(const ir::Requirement& a, const ir::Requirement& b);

struct SoftTaken {
  double weight = 0;
  std::string features;  // "gpu.count, gpu.model"
  ir::Node without;      // the node with only the groups accepted before this one
};

struct SoftOutcome {
  ir::Node node;  // with the requirements of all accepted groups
  double score = 0, most = 0;
  std::vector<SoftTaken> taken;      // by descending weight
  std::vector<std::string> dropped;  // "weight 5: gpu.count: ..." for each dropped group
};

// `possible` tells whether the cloud can create a node.
SoftOutcome resolve_softs(const ir::Node& node, const std::function<Status(const ir::Node&)>& possible);

}  // namespace radl
