// Words from other tools that users write in recipes, for better error hints.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// The resource type for another tool's word: "package" for "apt". "" if unknown.
std::string_view resource_type_called(std::string_view type);
// Help for a property that duplicates the resource's name, such as `packages` of a `package`, and for a
// property of Ansible. "" for any other.
std::string help_for_name_property(std::string_view type, std::string_view property);

}  // namespace radl
