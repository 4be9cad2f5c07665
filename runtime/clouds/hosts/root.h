// How a machine's user becomes root.
#pragma once

#include <string>

#include "runtime/clouds/cloud.h"
#include "runtime/clouds/hosts/record.h"
#include "runtime/net/remote.h"

namespace radl::hosts {

// The user's sudo password for the machine; empty: unknown.
std::string sudo_password_of(const Context& context, const Record& record);

// Auth: the given sudo password is wrong. Users without sudo may still work without root, which is reported
// in a line.
Status can_become_root(const Context& context, const Record& record, const Json& facts, Remote& users);

}  // namespace radl::hosts
