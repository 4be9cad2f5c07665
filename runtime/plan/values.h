// What an unknown value of the IR (docs/ir.md: "NODE.ATTRIBUTE", "STEP.ATTRIBUTE") is, as far as the state
// knows.
#pragma once

#include <optional>
#include <string>

#include "compiler/ir/ir.h"
#include "runtime/state/snapshot.h"

namespace radl {

struct UnknownName {
  std::string owner;      // address of a node, or id of a step
  std::string attribute;  // "private_ip", "model_path"
};
UnknownName split_unknown(const std::string& name);

// nullopt: not known (yet).
std::optional<Json> known_value(const Snapshot& snapshot, const std::string& name);
// `ip` and `id` are names of the language; the rest are the cloud's attributes.
std::optional<Json> node_attribute(const ResourceRecord& node, const std::string& attribute);
// Of a node's attributes: its machine is there and does not run.
bool is_stopped(const Json& attributes);

// Attribute of a machine whose host key was learned at the first contact: whether its cloud has told the same
// key since. Absent: the key was known before.
inline constexpr const char* kHostKeyFrom = "host_key_from";
inline constexpr const char *kFromCloud = "cloud", *kFromFirstUse = "first use";
bool is_trusted_on_first_use(const Json& attributes);

// Tells that a value changed: 16 bytes of SHA-256 in hex.
std::string value_fingerprint(const Json& value);

}  // namespace radl
