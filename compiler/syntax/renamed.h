// Names that modules of the standard library and resources had before. `radlc fmt --upgrade` writes the new
// ones, and errors about unknown names mention them.
#pragma once

#include <string>
#include <string_view>

namespace radl {

// The present name of an input or output of a module, or of a property of a type of resource; "" if `name`
// was never renamed. `module`: as in `use`, for example std/storage/nfs.
std::string_view renamed_input(std::string_view module, std::string_view name);
std::string_view renamed_output(std::string_view module, std::string_view name);
std::string_view renamed_property(std::string_view type, std::string_view name);
// The help of an error about a former name.
std::string renamed_help(std::string_view present);

}  // namespace radl
