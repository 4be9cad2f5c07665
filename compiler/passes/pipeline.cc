// The compiler in one list: what runs, in which order.
#include "compiler/passes/build.h"
#include "compiler/passes/dump.h"

namespace radl::passes {

namespace {

void inputs(Build& build) { build.scopes->resolve_inputs(); }

void conditions(Build& build) { build.scopes->check_conditions(); }

void unused(Build& build) {
  // After an error much is unused only because it was never reached.
  if (!build.diagnostics.has_errors() && build.unused_is_known()) build.scopes->report_unused_inputs();
}

}  // namespace

const std::vector<Pass>& pipeline() {
  static const std::vector<Pass> passes = {
      {"read", "files to trees; @input.NAME@ of RADL 1 filled in", read, false, dump_trees},
      {"modules", "`use` followed: one instance for each", modules, false, dump_instances},
      {"inputs", "every input gets its value", inputs, false, dump_inputs},
      {"lower", "expressions and modules to one document of values", lower, false, dump_values},
      {"check", "the documents united and checked", check},
      {"networks", "networks and ansible hosts", networks, false, dump_program},
      {"nodes", "one node for each instance", nodes, false, dump_program},
      {"moves", "what had another name before", moves},
      {"conditions", "conditions of inputs, and assertions", conditions},
      {"items", "which recipe goes to which system", items, false, dump_items},
      {"steps", "one step for each recipe and node; trainings", steps, false, dump_steps},
      {"wireguard", "networks that WireGuard joins: addresses and steps of their nodes", wireguard, false,
       dump_program},
      {"conflicts", "recipes of one node that contradict each other", conflicts},
      {"outputs", "values of outputs", outputs, false, dump_program},
      {"names", "names that nothing declares, in what was not evaluated", names},
      {"unused", "warnings about what nothing uses", unused},
      {"order", "steps in order, each edge with its reason", order, false, dump_order},
      {"finish", "name, sources, digest; the IR verified", finish, true, dump_program},
  };
  return passes;
}

void run_pipeline(Build& build) {
  for (const Pass& pass : pipeline()) {
    if (pass.needs_clean && build.diagnostics.has_errors()) return;
    pass.run(build);
    if (build.options.on_pass)
      build.options.on_pass(pass.name, pass.dump == nullptr ? std::string() : pass.dump(build));
  }
}

}  // namespace radl::passes
