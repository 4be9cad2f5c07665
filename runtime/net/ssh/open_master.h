// A node connection held open by the user's own OpenSSH client (ControlMaster, ControlPath in ~/.ssh/config).
// radlc's commands share it, which saves a login per run.
#pragma once

#include <functional>
#include <string>

#include "common/stop.h"
#include "runtime/net/ssh/target.h"

namespace radl::ssh {

// The control socket of a client connected to the target's address and port; empty: none. Offline. A
// live socket that leads elsewhere, or whose destination is unknown, is not used and is reported to
// `log`.
std::string open_master(const Target& target, const std::function<void(const std::string&)>& log);

}  // namespace radl::ssh
