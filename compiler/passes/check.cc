// The document check: what RADL demands of a document.
#include "compiler/check/check.h"

#include "compiler/eval/mentions.h"
#include "compiler/passes/build.h"

namespace radl::passes {

sema::CheckOptions check_options(const Build& build) {
  sema::CheckOptions options;
  options.lenient = build.options.lenient;
  options.for_run = true;
  options.image_schemes = build.options.image_schemes;
  return options;
}

namespace {

sema::LeftOut left_out(const Instance& program) {
  sema::LeftOut names;
  visit(program, [&](const Instance& instance) {
    const Mentions mentions = mentions_in(instance);
    for (std::string_view name : mentions.deployed) names.deployed.insert(instance.full(name));
    for (std::string_view name : mentions.configured) names.configured.insert(instance.full(name));
  });
  return names;
}

}  // namespace

void check(Build& build) {
  build.document = sema::build_document(build.values, build.diagnostics);
  sema::CheckOptions options = check_options(build);
  sema::LeftOut names;
  if (build.evaluated) {
    names = left_out(*build.root);
    names.deployed.insert(build.values.bases.begin(), build.values.bases.end());
    options.left_out = &names;
  }
  bool broken = build.diagnostics.has_errors();
  for (const hir::Part& part : build.values.parts) broken = broken || part.broken;
  options.unused = !broken && build.unused_is_known();
  sema::check_document(build.document, build.diagnostics, options);
}

}  // namespace radl::passes
