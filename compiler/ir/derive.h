// Derives a node's disks, applications and login from its features.
#pragma once

#include <optional>
#include <string_view>

#include "compiler/ir/ir.h"

namespace radl::ir {

// "disk.3.os.name" with prefix "disk." gives index 3 and "os.name".
struct IndexedFeature {
  int index = 0;
  std::string_view rest;
};
std::optional<IndexedFeature> indexed_feature(std::string_view name, std::string_view prefix);

// Sets Node::disks, applications and user from Node::requirements. Call again after adding soft
// features.
void derive_disks(Node& node);

}  // namespace radl::ir
