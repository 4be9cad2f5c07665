// Adapts a program for simulated clouds, and derives slightly changed variants. Pure; internal to
// runtime/trial.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"
#include "runtime/clouds/simulated/draws.h"

namespace radl {

// The cloud names used by `deploy`, "" for none, without duplicates, in order of first use.
std::vector<std::string> clouds_named(const ir::Program& program);
// Removes features that name resources of a real cloud; `notes`: which.
void leave_out_names(ir::Program& program, std::vector<std::string>& notes);

// Adds ordinary tags, and tags that would conflict with radlc's own.
ir::Program with_tags(const ir::Program& program, const std::string& tags);

// True if running trainings on the nodes of `before` adopt those of `after` as workers, and no other job
// differs.
bool takes_workers(const ir::Program& before, const ir::Program& after);

// Makes one to three typical edits between two applies: more memory, another image, a port rule, a larger or
// additional disk, another recipe, one node fewer. `changes` lists them.
ir::Program changed_program(const ir::Program& program, simulated::Draws& draws,
                            std::vector<std::string>& changes);

}  // namespace radl
