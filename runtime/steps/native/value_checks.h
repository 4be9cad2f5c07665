// What the strings of a resource may be before they reach a program of the node. Quoting keeps them from
// being shell text; a program would still take one for an option, for two names, or for something other than
// it is.
#pragma once

#include "runtime/steps/native/resource.h"

namespace radl::native {

// Invalid names the property, and what it takes.
Status check_values(const Item& item);

}  // namespace radl::native
