// Implementations of the functions: run_NAME for each row of functions.def. Internal to compiler/eval.
#pragma once

#include "compiler/eval/functions.h"

namespace radl::expr {

// Appends an element's text to the parts of a string. Reports and returns false if it has no text form.
bool append_text(const CallFrame& call, Items& parts, const Value& item);

#define RADL_FUNCTION(name, ...) Value run_##name(const CallFrame& call);
#include "compiler/eval/functions.def"
#undef RADL_FUNCTION

}  // namespace radl::expr
