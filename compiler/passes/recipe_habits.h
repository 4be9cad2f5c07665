// What users of other tools write in recipes, for the advice of errors.
#pragma once

#include <string_view>

namespace radl {

// The resource type for another tool's word: "package" for "apt". "": the word is not known.
std::string_view resource_type_called(std::string_view type);
// Whether the property, of a resource `command`, means the command itself, which is the resource's name.
bool means_the_command(std::string_view property);

}  // namespace radl
