// Restrictions on a resource's strings before they reach a program on the node. Quoting keeps
// them out of shell syntax, but a program could still mistake one for an option or for two
// names.
#pragma once

#include "runtime/steps/native/resource.h"

namespace radl::native {

// Invalid names the property and its allowed values.
Status check_values(const Item& item);

}  // namespace radl::native
