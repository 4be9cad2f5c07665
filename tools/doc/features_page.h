// docs/features.md and `radlc doc --features`: every known feature, from compiler/check/features.def.
#pragma once

#include <string>

namespace radl {

std::string features_page();

}  // namespace radl
