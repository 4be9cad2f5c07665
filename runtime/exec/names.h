// Writes the names of an infrastructure's machines into /etc/hosts on machines whose cloud does not resolve
// them.
#pragma once

#include <string>

#include "runtime/exec/execution.h"

namespace radl {

// Returns lines "ADDRESS FQDN SHORT.." of all existing machines between two marks, from the spec's `hostname`
// and `names` and the attribute `private_ip`.
std::string names_block(const Snapshot& snapshot);

// Writes the names unless they were already there at this run's last check. If /etc/hosts cannot be changed,
// the machine goes without, and the log says so.
Status publish_names(Execution& execution, const std::string& address, const Context& context);

}  // namespace radl
