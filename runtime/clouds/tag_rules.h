// Whether a cloud takes the tags that a file asks for (instance_tags), by its documented rules; checked at
// plan, so that no tag is refused, cut or overwritten when the machine is created. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"

namespace radl {

// What part_address() adds to a node's address at most: "volume." and ".12".
inline constexpr size_t kLongestPartOfAddress = 16;

struct TagRules {
  const char* cloud;   // "EC2"
  size_t key, value;   // the longest, in characters
  size_t most;         // tags of one machine
  size_t own;          // of them radlc's own
  size_t address = 0;  // the longest address of a node that its mark has room for; 0: any
  std::vector<std::string_view> reserved = {};  // prefixes of keys that the cloud keeps, in any case
  // Which characters it takes, and the same in words; none: any.
  bool (*allows)(std::string_view text, bool key) = nullptr;
  const char* allowed = "";
  bool ignores_case = false;  // two keys that differ in case are one
};

// Invalid names the tag and the rule.
Status check_tags(const ir::Node& node, const TagRules& rules);

// radlc finds what it created by tags and names that begin with `radlc`. Invalid: a key of the user's does,
// in any case.
Status check_key_is_free(const std::string& where, std::string_view key);
// The same for the names that the file gives (sg_name; instance_name, with the tags of the node).
Status check_names_are_free(const ir::Network& network);
Status check_names_are_free(const ir::Node& node);

}  // namespace radl
