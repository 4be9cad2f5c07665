// Whether this computer has the private keys that a plan logs in with: asked before anything is made, since a
// machine that nobody here can log in to would only be paid for.
#pragma once

#include "runtime/exec/execution.h"

namespace radl {

// Auth: of a machine on which a step would run, or of the key pair of one that would be made, the private key
// is neither in a file nor in the agent.
Status check_login_keys(const Execution& execution, const Plan& plan);

}  // namespace radl
