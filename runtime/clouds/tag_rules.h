// Checks a file's tags (instance_tags) against a cloud's documented rules at plan time, so that no tag is
// rejected, cut or overwritten at creation. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"

namespace radl {

// The longest text that part_address() adds to a node's address: "volume." and ".12".
inline constexpr size_t kLongestPartOfAddress = 16;

struct TagRules {
  const char* cloud;                            // "EC2"
  size_t key, value;                            // maximum lengths in characters
  size_t most;                                  // maximum number per machine
  size_t own;                                   // of these, used by radlc
  size_t address = 0;                           // longest node address that fits its mark; 0: any
  std::vector<std::string_view> reserved = {};  // reserved key prefixes, in any case
  // Allowed characters, and a description of them; null: any.
  bool (*allows)(std::string_view text, bool key) = nullptr;
  const char* allowed = "";
  bool ignores_case = false;  // keys that differ only in case are equal
};

// Invalid names the tag and the rule.
Status check_tags(const ir::Node& node, const TagRules& rules);

// radlc finds its resources by tags and names that begin with `radlc`. Invalid: a user's key does so too, in
// any case.
Status check_key_is_free(const std::string& where, std::string_view key);
// Same for names given in the file (sg_name; instance_name, with the tags of the node).
Status check_names_are_free(const ir::Network& network);
Status check_names_are_free(const ir::Node& node);

}  // namespace radl
