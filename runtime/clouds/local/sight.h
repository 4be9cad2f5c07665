// Reads an infrastructure's resources from its work folder. Read-only, except that it restores a public key
// that is missing beside its private one.
#pragma once

#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::local {

std::string key_file(const Context& context);

// Each once, in any order. A node or record left by an interrupted run is Broken. A network without a record
// serves nodes outside the program's networks, or belongs to an interrupted run; it is shown only if there is
// no other network.
Result<std::vector<Seen>> look_around(const Context& context, const Query& query);

}  // namespace radl::local
