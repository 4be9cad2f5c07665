// Checks before an apply that this computer has the private keys for its logins. A machine without one would
// cost money for nothing.
#pragma once

#include "runtime/exec/execution.h"

namespace radl {

// Auth: the private key for a machine that runs a step, or for a new machine's key pair, is neither in a file
// nor in the agent.
Status check_login_keys(const Execution& execution, const Plan& plan);

}  // namespace radl
