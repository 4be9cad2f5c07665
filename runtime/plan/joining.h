// A training that runs takes other workers: which step is that of such a training, and whose workers join it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "runtime/state/snapshot.h"

namespace radl {

bool is_one_of(const std::vector<std::string>& nodes, const std::string& node);
// Whether they are one training but for its workers. `secrets`: their fingerprints now.
bool same_training(const ir::Step& step, const StepRecord& record, const Snapshot& snapshot,
                   const std::map<std::string, std::string>& secrets);
// Nodes of a training whose workers join it, if it runs on `running`.
std::vector<std::string> joining(const ir::Step& step, const std::vector<std::string>& running);
// "worker[2] joins the training that runs"; nothing if nobody does.
std::string joining_text(const std::vector<std::string>& nodes);
// The job runs on all nodes without which it would end.
bool can_be_joined(const ir::Step& step, const std::vector<std::string>& running);
// `radlc scale` has chosen nodes of this job.
bool is_scaled(const ir::Step& step, const ir::Program& program, const Scalings& scaled);

}  // namespace radl
