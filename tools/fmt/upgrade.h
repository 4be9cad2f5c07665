// `radlc fmt --upgrade`: rewrites a file of RADL 1, or of the older way to write `radl 2`, as `radl 2` of
// today.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/diag/diagnostic.h"
#include "tools/fmt/format.h"

namespace radl::formatter {

struct Upgraded {
  std::string text;  // laid out
  // What it must mean: the source, with commas for `and`, quotes around computed clouds and present names.
  std::string before;
  std::vector<std::string> inputs;  // that @input.NAME@ became, in order
};

// Invalid, with one line that says why, when the file has syntax errors (they are in `diagnostics`) or is
// written in what `radl 2` has no form for: EC3's dialect, @input.NAME@ in a name or in a part of a word.
// That both texts compile to the same program is the caller's to check.
Result<Upgraded> upgrade(const SourceFile& source, Diagnostics& diagnostics, const Options& options = {});

}  // namespace radl::formatter
