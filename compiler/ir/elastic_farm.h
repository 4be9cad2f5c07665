// The `elastic` farms of a program (docs/ir.md, "Program steps").
#pragma once

#include "compiler/ir/ir.h"

namespace radl::ir {

// A program step whose nodes come and go with its queue of tasks. It may have no node.
inline bool has_elastic_farm(const Json& program) {
  return program.is_object() && program.value("elastic", false);
}
inline bool has_elastic_farm(const Step& step) { return has_elastic_farm(step.program); }

}  // namespace radl::ir
