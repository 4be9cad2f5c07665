// The document check: what RADL demands of a document.
#include "compiler/sema/check.h"

#include "compiler/passes/build.h"

namespace radl::passes {

void check(Build& build) {
  build.document = sema::build_document(build.values, build.diagnostics);
  sema::CheckOptions options;
  options.lenient = build.options.lenient;
  options.host_names = true;
  bool broken = build.diagnostics.has_errors();
  for (const hir::Part& part : build.values.parts) broken = broken || part.broken;
  options.unused = !broken && build.unused_is_known();
  sema::check_document(build.document, build.diagnostics, options);
}

}  // namespace radl::passes
