// What is there of an infrastructure, read from its work folder; nothing is changed but a public key that
// is missing beside its private one.
#pragma once

#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::local {

std::string key_file(const Context& context);

// Each once, in any order. A node or record that a run was stopped at is Broken. Of a network that no record
// names, nodes have it that are in none of the program's, or a run was stopped; it is shown where no other
// network is.
Result<std::vector<Seen>> look_around(const Context& context, const Query& query);

}  // namespace radl::local
