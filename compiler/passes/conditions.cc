// What inputs and assertions ask for holds, or is reported.
#include "compiler/passes/build.h"

namespace radl::passes {

void conditions(Build& build) { build.scopes->check_conditions(); }

}  // namespace radl::passes
