#include "runtime/steps/node_lease.h"

#include <chrono>

#include "runtime/base/world.h"

namespace radl {

Lease lease_of(const StepContext& context, const ir::Step& step) {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return {context.context->infrastructure, context.context->run, step.id,
          utc_time(std::chrono::duration<double>(now).count())};
}

Result<ExecResult> take_node_lease_then(const StepContext& context, const Lease& lease,
                                        const std::string& address, Remote& remote, StepLog& log,
                                        const ExecOptions& then) {
  auto tell = [&](const std::string& line) {
    log.line(line);
    context.context->log(address + ": " + line);
  };
  Result<ExecResult> taken = take_lease_then(remote, lease, then, tell);
  if (taken.ok()) return taken;
  return std::move(taken).status().at(address);
}

Status take_node_lease(const StepContext& context, const Lease& lease, const std::string& address,
                       Remote& remote, StepLog& log) {
  ExecOptions nothing;
  nothing.deadline = std::chrono::minutes(2);
  nothing.stop = context.context->stop;
  return take_node_lease_then(context, lease, address, remote, log, nothing).status();
}

}  // namespace radl
