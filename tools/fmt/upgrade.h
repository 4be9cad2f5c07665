// `radlc fmt --upgrade`: rewrites RADL 1 and the older `radl 2` as current `radl
// 2`.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/diag/diagnostic.h"
#include "tools/fmt/format.h"

namespace radl::formatter {

struct Upgraded {
  std::string text;  // formatted
  // Has the result's meaning: the source with commas for `and`, quoted computed clouds and current names.
  std::string before;
  std::vector<std::string> inputs;  // created from @input.NAME@, in order
};

// Invalid, with a one-line reason: the file has syntax errors (see `diagnostics`), or uses something without
// a `radl 2` form: EC3's dialect, @input.NAME@ in a name or in part of a word. The caller must check that
// both texts compile to the same program.
Result<Upgraded> upgrade(const SourceFile& source, Diagnostics& diagnostics, const Options& options = {});

}  // namespace radl::formatter
