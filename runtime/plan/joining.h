// Adding workers to a running training: matches a step with it, and finds the joining workers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "runtime/state/snapshot.h"

namespace radl {

bool is_one_of(const std::vector<std::string>& nodes, const std::string& node);
// True if they are the same training except for its workers. `secrets`: current fingerprints.
bool same_training(const ir::Step& step, const StepRecord& record, const Snapshot& snapshot,
                   const std::map<std::string, std::string>& secrets);
// Nodes whose workers join the training, if it runs on `running`.
std::vector<std::string> joining(const ir::Step& step, const std::vector<std::string>& running);
// "worker[2] joins the training that runs"; empty if none joins.
std::string joining_text(const std::vector<std::string>& nodes);
// True if the job runs on all nodes that it cannot do without.
bool can_be_joined(const ir::Step& step, const std::vector<std::string>& running);
// True if `radlc scale` has chosen nodes of this job.
bool is_scaled(const ir::Step& step, const ir::Program& program, const Scalings& scaled);

}  // namespace radl
