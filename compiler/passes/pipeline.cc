// The compiler in one list: what runs, in which order.
#include "compiler/passes/build.h"
#include "compiler/passes/dump.h"

namespace radl::passes {

const std::vector<Pass>& pipeline() {
  static const std::vector<Pass> passes = {
      {"read", "files to trees; @input.NAME@ of RADL 1 filled in", read, false, dump_trees},
      {"modules", "`use` followed: one instance for each", modules, false, dump_instances},
      {"inputs", "every input gets its value", inputs, false, dump_inputs},
      {"lower", "expressions and modules to one document of values", lower, false, dump_values},
      {"check", "the documents united and checked", check},
      {"networks", "networks and ansible hosts", networks, false, dump_program, true},
      {"nodes", "one node for each instance", nodes, false, dump_program},
      {"moves", "what had another name before", moves, false, nullptr, true},
      {"conditions", "conditions of inputs, and assertions", conditions, false, nullptr, true},
      {"items", "which recipe goes to which system", items, false, dump_items, true},
      {"steps", "one step for each recipe and node; trainings", steps, false, dump_steps, true},
      {"wireguard", "networks that WireGuard joins: addresses and steps of their nodes", wireguard, false,
       dump_program, true},
      {"conflicts", "recipes of one node that contradict each other", conflicts, false, nullptr, true},
      {"outputs", "values of outputs", outputs, false, dump_program, true},
      {"names", "names that nothing declares, in what was not evaluated", names, false, nullptr, true},
      {"unused", "warnings about what nothing uses", unused, false, nullptr, true},
      {"order", "steps in order, each edge with its reason", order, false, dump_order, true},
      {"finish", "name, sources, digest; the IR verified", finish, true, dump_program, true},
  };
  return passes;
}

void run_pipeline(Build& build) {
  for (const Pass& pass : pipeline()) {
    if (pass.silent_in_radl1 && only_findings_of_radl1(build)) continue;
    if (pass.needs_clean && build.diagnostics.has_errors()) return;
    pass.run(build);
    if (build.options.on_pass)
      build.options.on_pass(pass.name, pass.dump == nullptr ? std::string() : pass.dump(build));
  }
}

}  // namespace radl::passes
