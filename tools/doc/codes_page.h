// docs/diagnostics.md: every code with its explanation, from compiler/diag/codes.def.
#pragma once

#include <string>

namespace radl {

std::string diagnostics_page();

}  // namespace radl
