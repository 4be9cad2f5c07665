// Text dumps of each pass's result.
#pragma once

#include <string>

#include "compiler/passes/build.h"

namespace radl::passes {

std::string dump_trees(const Build& build);
std::string dump_instances(const Build& build);
std::string dump_inputs(const Build& build);
std::string dump_values(const Build& build);
std::string dump_items(const Build& build);
std::string dump_steps(const Build& build);
std::string dump_order(const Build& build);
std::string dump_program(const Build& build);

}  // namespace radl::passes
