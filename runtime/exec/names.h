// The names of an infrastructure's machines, on those whose cloud does not resolve them: a block of
// /etc/hosts.
#pragma once

#include <string>

#include "runtime/exec/execution.h"

namespace radl {

// Lines "ADDRESS FQDN SHORT.." of all machines that are there, between two marks; by the spec's `hostname`
// and `names` and the attribute `private_ip`.
std::string names_block(const Snapshot& snapshot);

// Sees that the machine knows them, unless it did already when this run looked last. A machine on which
// nobody may change /etc/hosts goes without, and the log says so.
Status publish_names(Execution& execution, const std::string& address, const Context& context);

}  // namespace radl
