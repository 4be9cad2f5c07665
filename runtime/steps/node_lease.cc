#include "runtime/steps/node_lease.h"

#include <chrono>

#include "runtime/base/world.h"

namespace radl {

Lease lease_of(const StepContext& context, const ir::Step& step) {
  auto now = std::chrono::system_clock::now().time_since_epoch();
  return {context.context->infrastructure, context.context->run, step.id,
          utc_time(std::chrono::duration<double>(now).count())};
}

Status take_node_lease(const StepContext& context, const Lease& lease, const std::string& address,
                       Remote& remote, StepLog& log) {
  auto tell = [&](const std::string& line) {
    log.line(line);
    context.context->log(address + ": " + line);
  };
  Status taken = take_lease(remote, lease, context.context->stop, tell);
  return taken.ok() ? taken : std::move(taken).at(address);
}

}  // namespace radl
