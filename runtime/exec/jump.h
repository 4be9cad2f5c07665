// Machines without a public address are reached through one of the same infrastructure that has one and
// shares a network (ssh's ProxyJump). Used by the executor and by commands that log in.
#pragma once

#include <optional>
#include <string>

#include "common/environment.h"
#include "runtime/net/remote.h"
#include "runtime/state/snapshot.h"

namespace radl {

// True if the machine has no public address but a VPC (attributes "public_ip", "vpc") to jump within.
bool is_private(const ResourceRecord& node);
// The jump host for `node`; nullopt if it is reached directly.
std::optional<ResourceRecord> jump_for(const Snapshot& snapshot, const ResourceRecord& node);

// The node's attributes with "ssh_config", a file in `work_directory` that leads through `jump`. Retry: the
// jump host's data is incomplete so far.
Result<nlohmann::json> attributes_through(const ResourceRecord& node, const ResourceRecord& jump,
                                          const std::string& work_directory, const Environment& environment);
// Both in one; the node's own attributes if it is reached directly.
Result<nlohmann::json> attributes_to_reach(const Snapshot& snapshot, const ResourceRecord& node,
                                           const std::string& work_directory, const Environment& environment);

// The host key shown by the node, as seen from the jump host; ed25519 if available. Proves nothing. Retry:
// nothing responds yet.
Result<std::string> host_key_seen_from(Remote& jump, const ResourceRecord& node, const Stop& stop);

}  // namespace radl
