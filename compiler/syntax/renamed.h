// Former names in the standard library and of resources. `radlc fmt --upgrade` replaces them, and errors
// about unknown names mention the current ones.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// The current name of a module's input or output, or of a resource type's property; "" if `name` was never
// renamed. `module`: as in `use`, for example std/storage/nfs.
std::string_view renamed_input(std::string_view module, std::string_view name);
std::string_view renamed_output(std::string_view module, std::string_view name);
std::string_view renamed_property(std::string_view type, std::string_view name);
// Help text for an error about a former name.
std::string renamed_help(std::string_view present);

}  // namespace radl
