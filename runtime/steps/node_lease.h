// The lease of a node (runtime/net/lease.h) as steps use it.
#pragma once

#include "runtime/net/lease.h"
#include "runtime/steps/step_log.h"

namespace radl {

// The step's commands on its node run under this.
Lease lease_of(const StepContext& context, const ir::Step& step);

// Before a step acts on a node: what an earlier run or attempt has left going there ends first.
Result<ExecResult> take_node_lease_then(const StepContext& context, const Lease& lease,
                                        const std::string& address, Remote& remote, StepLog& log,
                                        const ExecOptions& then);
Status take_node_lease(const StepContext& context, const Lease& lease, const std::string& address,
                       Remote& remote, StepLog& log);

}  // namespace radl
