// A program made ready for simulated clouds, and others like it that differ a little. Pure; internal to
// runtime/trial.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"
#include "runtime/clouds/simulated/draws.h"

namespace radl {

// The names that `deploy` uses for clouds, "" for none, each once, in the order of their first use.
std::vector<std::string> clouds_named(const ir::Program& program);
// Leaves out the features that name one real cloud's things; `notes`: which.
void leave_out_names(ir::Program& program, std::vector<std::string>& notes);

// Tags as anybody writes them, and those that would take the place of radlc's own.
ir::Program with_tags(const ir::Program& program, const std::string& tags);

// Whether trainings that run with the nodes of `before` take those of `after` as their workers, and no other
// job differs.
bool takes_workers(const ir::Program& before, const ir::Program& after);

// One to three changes, as somebody makes them to a file between two applies: more memory, another image, a
// port rule, a larger or a further disk, another recipe, a node less. `changes` says which.
ir::Program changed_program(const ir::Program& program, simulated::Draws& draws,
                            std::vector<std::string>& changes);

}  // namespace radl
