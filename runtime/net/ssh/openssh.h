// The second transport: the system's OpenSSH client with a master connection, for what libssh2 lacks.
#pragma once

#include <memory>

#include "runtime/net/ssh/target.h"

namespace radl::ssh {

// `open`: control socket of a user's client that is already connected to the target; used for commands as
// long as it is served. Empty: uses its own connection, which ends with this object.
std::unique_ptr<Remote> make_openssh_remote(const Target& target, const std::string& open = "");

}  // namespace radl::ssh
