// Machines without a public address are reached through one of the same infrastructure that has one and
// shares a network with them (ssh's ProxyJump). Used by the executor and by the commands that log in.
#pragma once

#include <optional>
#include <string>

#include "common/environment.h"
#include "runtime/net/remote.h"
#include "runtime/state/snapshot.h"

namespace radl {

// The machine has no public address and lies in a VPC (attributes "public_ip", "vpc"): others may lead to it.
bool is_private(const ResourceRecord& node);
// The machine through which `node` is reached; nothing: it is reached directly.
std::optional<ResourceRecord> jump_for(const Snapshot& snapshot, const ResourceRecord& node);

// The node's attributes with "ssh_config", a file in `work_directory` that leads through `jump`. Retry: the
// jump host is not known well enough yet.
Result<nlohmann::json> attributes_through(const ResourceRecord& node, const ResourceRecord& jump,
                                          const std::string& work_directory, const Environment& environment);
// Both in one; the node's own attributes where it is reached directly.
Result<nlohmann::json> attributes_to_reach(const Snapshot& snapshot, const ResourceRecord& node,
                                           const std::string& work_directory, const Environment& environment);

// The host key that answers at the node, as seen from the jump host: ed25519 where there is one. Proves
// nothing. Retry: nobody answers there yet.
Result<std::string> host_key_seen_from(Remote& jump, const ResourceRecord& node, const Stop& stop);

}  // namespace radl
