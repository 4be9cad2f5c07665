// What a plan finds out about the models of trainings, before anything is made.
#pragma once

#include <set>
#include <string>

#include "common/status.h"
#include "compiler/ir/ir.h"

namespace radl {

// Asks this computer's engine whether it has the models that trainings with these ids name; texts of models
// are not looked at, nor is anything where this computer has no engine. What it has is kept in the user's
// cache, for this engine. Invalid: it has no such model.
Status look_at_models(const ir::Program& program, const std::set<std::string>& steps);

}  // namespace radl
