// How the user of a machine becomes root on it.
#pragma once

#include <string>

#include "runtime/clouds/cloud.h"
#include "runtime/clouds/hosts/record.h"
#include "runtime/net/remote.h"

namespace radl::hosts {

// What sudo asks the machine's user for; empty: nothing is known.
std::string sudo_password_of(const Context& context, const Record& record);

// Auth: the password that was given for sudo is another one. Whoever has no sudo at all may still do without
// root: that is said in a line.
Status can_become_root(const Context& context, const Record& record, const Json& facts, Remote& users);

}  // namespace radl::hosts
