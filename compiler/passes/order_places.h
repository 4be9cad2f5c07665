// Source order of trainings and programs, and the names that they use.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/passes/build.h"

namespace radl::passes {

// The rank of each one among all, from 0, in source order and file order. Those of a module stay together at
// the position of its `use`, in the module's own order.
std::vector<size_t> places_in_source(const std::vector<Build::TrainingStep>& trainings);

// The modules whose outputs it uses, also through a `let` or through inputs of its own module: the instance
// with the `use`, and the module's name there.
std::vector<std::pair<const Instance*, std::string_view>> modules_taken_by(
    const Build::TrainingStep& training);

}  // namespace radl::passes
