// Use of node leases (runtime/net/lease.h) by steps.
#pragma once

#include "runtime/net/lease.h"
#include "runtime/steps/step_log.h"

namespace radl {

// The lease for a step's commands on its node.
Lease lease_of(const StepContext& context, const ir::Step& step);

// Before a step acts on a node: first ends leftovers of earlier runs and attempts.
Result<ExecResult> take_node_lease_then(const StepContext& context, const Lease& lease,
                                        const std::string& address, Remote& remote, StepLog& log,
                                        const ExecOptions& then);
Status take_node_lease(const StepContext& context, const Lease& lease, const std::string& address,
                       Remote& remote, StepLog& log);

}  // namespace radl
