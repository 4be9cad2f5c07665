// What a node's features come to: its disks, applications and login.
#pragma once

#include <optional>
#include <string_view>

#include "compiler/ir/ir.h"

namespace radl::ir {

// "disk.3.os.name" with the prefix "disk." is index 3 and "os.name".
struct IndexedFeature {
  int index = 0;
  std::string_view rest;
};
std::optional<IndexedFeature> indexed_feature(std::string_view name, std::string_view prefix);

// Sets Node::disks, applications and user by Node::requirements. Called again when soft features were added
// to what is wanted.
void derive_disks(Node& node);

}  // namespace radl::ir
