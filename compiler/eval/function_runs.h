// What each function does: run_NAME for those of functions.def. Internal to compiler/eval.
#pragma once

#include "compiler/eval/functions.h"

namespace radl::expr {

// Appends the text of an element to the parts of a joined text; false, reported, when it has none.
bool append_text(const CallFrame& call, Items& parts, const Value& item);

#define RADL_FUNCTION(name, ...) Value run_##name(const CallFrame& call);
#include "compiler/eval/functions.def"
#undef RADL_FUNCTION

}  // namespace radl::expr
