// Where trainings and programs stand in the source, and what of it they name.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/passes/build.h"

namespace radl::passes {

// For each of them its place among all, from 0: in the order of the file, of several files in theirs; those
// of a module stand together where its `use` stands, in the module's own order.
std::vector<size_t> places_in_source(const std::vector<Build::TrainingStep>& trainings);

// The modules of which it takes an output, also by way of a `let` or of the inputs of the module that it
// stands in: who uses the module, and its name there.
std::vector<std::pair<const Instance*, std::string_view>> modules_taken_by(
    const Build::TrainingStep& training);

}  // namespace radl::passes
