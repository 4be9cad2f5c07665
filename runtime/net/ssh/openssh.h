// The second transport: the system's OpenSSH client with a master connection, for what libssh2 cannot do.
#pragma once

#include <memory>

#include "runtime/net/ssh/target.h"

namespace radl::ssh {

// `open`: the control socket of a client of the user's that is connected to the target already; commands go
// over it as long as it is served. Empty: a connection of its own, which ends with it.
std::unique_ptr<Remote> make_openssh_remote(const Target& target, const std::string& open = "");

}  // namespace radl::ssh
