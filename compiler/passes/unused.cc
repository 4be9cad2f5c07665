// Warnings about what nothing uses, beyond those of the document check.
#include "compiler/passes/build.h"

namespace radl::passes {

void unused(Build& build) {
  // After an error much is unused only because it was never reached.
  if (build.diagnostics.has_errors() || !build.unused_is_known()) return;
  build.scopes->report_unused_inputs();
}

}  // namespace radl::passes
