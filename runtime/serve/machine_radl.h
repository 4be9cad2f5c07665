// Describes a machine in RADL: its request and its current properties.
#pragma once

#include <string>

#include "common/status.h"
#include "runtime/state/snapshot.h"

namespace radl::serve {

// RADL-JSON of the node `address` of the document `radl`: its networks, system and deploy. The system
// includes its addresses (net_interface.N.ip), `state`, `instance_id`, `instance_type`, `provider.type`,
// login user and price, as far as known. `key`: the private key for logins; may be empty. Invalid: the
// document has no such system.
Result<Json> machine_radl(const std::string& radl, const Snapshot& snapshot, const std::string& address,
                          const std::string& state, const std::string& key);

// Converts RADL-JSON to RADL text.
Result<std::string> radl_text(const Json& radl);

}  // namespace radl::serve
