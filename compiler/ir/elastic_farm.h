// The `elastic` farms of a program (docs/ir.md, "Program steps").
#pragma once

#include <nlohmann/json.hpp>

#include "compiler/ir/ir.h"

namespace radl::ir {

// True for a program step whose number of nodes follows its task queue. It may have no node.
inline bool has_elastic_farm(const Json& program) {
  return program.is_object() && program.value("elastic", false);
}
inline bool has_elastic_farm(const Step& step) { return has_elastic_farm(*step.program); }

}  // namespace radl::ir
