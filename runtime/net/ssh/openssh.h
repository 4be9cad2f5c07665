// The second transport: the system's OpenSSH client with a master connection, for what libssh2 cannot do.
#pragma once

#include <memory>

#include "runtime/net/ssh/target.h"

namespace radl::ssh {

std::unique_ptr<Remote> make_openssh_remote(const Target& target);

}  // namespace radl::ssh
