// The connection to a node that the user's own OpenSSH client holds open (ControlMaster, ControlPath in
// ~/.ssh/config): commands of radlc go over it too, which spares them a login each run.
#pragma once

#include <functional>
#include <string>

#include "common/stop.h"
#include "runtime/net/ssh/target.h"

namespace radl::ssh {

// The control socket of a client that is connected to the target's address and port; empty: there is none.
// Asks no network. A socket that is served and leads elsewhere, or nobody knows where, is left alone, and
// reported to `log`.
std::string open_master(const Target& target, const std::function<void(const std::string&)>& log);

}  // namespace radl::ssh
