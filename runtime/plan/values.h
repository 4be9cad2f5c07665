// Resolves unknown values of the IR (docs/ir.md: "NODE.ATTRIBUTE", "STEP.ATTRIBUTE") from the
// state.
#pragma once

#include <optional>
#include <string>

#include "compiler/ir/ir.h"
#include "runtime/state/snapshot.h"

namespace radl {

struct UnknownName {
  std::string owner;      // node address or step ID
  std::string attribute;  // "private_ip", "model_path"
};
UnknownName split_unknown(const std::string& name);

// nullopt: not known (yet).
std::optional<Json> known_value(const Snapshot& snapshot, const std::string& name);
// `ip` and `id` are defined by the language; other names are the cloud's attributes.
std::optional<Json> node_attribute(const ResourceRecord& node, const std::string& attribute);
// By a node's attributes: its machine exists but does not run.
bool is_stopped(const Json& attributes);

// Attribute of a machine whose host key was learned at the first connection: whether the cloud has confirmed
// it since. Absent: the key was known before.
inline constexpr const char* kHostKeyFrom = "host_key_from";
inline constexpr const char *kFromCloud = "cloud", *kFromFirstUse = "first use";
bool is_trusted_on_first_use(const Json& attributes);

// Detects changes of a value: 16 bytes of SHA-256 in hex.
std::string value_fingerprint(const Json& value);

}  // namespace radl
