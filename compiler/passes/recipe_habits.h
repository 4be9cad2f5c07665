// What users of other tools write in recipes, for the advice of errors.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// The resource type for another tool's word: "package" for "apt". "": the word is not known.
std::string_view resource_type_called(std::string_view type);
// The help for a property that means what the resource's name stands for here, such as `packages` of a
// `package`. "": it means nothing of that kind.
std::string help_for_name_property(std::string_view type, std::string_view property);

}  // namespace radl
