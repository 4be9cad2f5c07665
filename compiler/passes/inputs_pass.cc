// Gives every input its value.
#include "compiler/passes/build.h"

namespace radl::passes {

void inputs(Build& build) { build.scopes->resolve_inputs(); }

}  // namespace radl::passes
