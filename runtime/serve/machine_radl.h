// A machine in the words of RADL: what was asked for, and what it has become.
#pragma once

#include <string>

#include "common/status.h"
#include "runtime/state/snapshot.h"

namespace radl::serve {

// RADL-JSON of the node `address` of the document `radl`: its networks, its system and its deploy. The system
// has its addresses (net_interface.N.ip), `state`, `instance_id`, `instance_type`, `provider.type`, the user
// to log in as, and its price, as far as they are known. `key`: the private key that logs in there; may be
// empty. Invalid: the document has no such system.
Result<Json> machine_radl(const std::string& radl, const Snapshot& snapshot, const std::string& address,
                          const std::string& state, const std::string& key);

// RADL-JSON as RADL text.
Result<std::string> radl_text(const Json& radl);

}  // namespace radl::serve
