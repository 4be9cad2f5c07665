// Gives every input its value.
#include "compiler/passes/build.h"

namespace radl::passes {

void inputs(Build& build) {
  build.scopes = std::make_unique<Scopes>(*build.root, build.options, build.sources, build.diagnostics);
  build.scopes->resolve_inputs();
}

}  // namespace radl::passes
