// One function an action: the journal's intent, the call, its retries, and what came of it. Internal to
// runtime/exec.
#pragma once

#include <string>
#include <vector>

#include "runtime/exec/session.h"

namespace radl {

// Create, and the second half of a replacement. Something of that address that is still recorded is removed
// first.
Status make_resource(Session& session, const Action& action);
Status update_resource(Session& session, const Action& action);
// Delete, and the first half of a replacement. Ok when it is not recorded (any more).
Status remove_resource(Session& session, const std::string& address, bool keep_steps);

struct StepDone {
  Status status;
  size_t changes = 0;
  std::string log;
};
// `deadline` is of the whole configuration; a training has none.
StepDone run_step(Session& session, const Action& action, std::chrono::steady_clock::time_point deadline);

// The step with every value that is known now, secrets included; Invalid names what is missing.
Result<ir::Step> resolved_step(Session& session, const ir::Step& step);

// Hooks that tell of retries as events and end waits on Ctrl-C.
struct RetryHooks;
RetryHooks retry_hooks(Session& session, const std::string& id);

}  // namespace radl
