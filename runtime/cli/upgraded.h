// `radlc fmt --upgrade`: converts a file to `radl 2` if the result compiles to the same program.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/source/source.h"
#include "compiler/syntax/parser.h"
#include "runtime/cli/command.h"

namespace radl::cli {

// Returns the new text. Compiles both texts and compares the programs: for @input.NAME@ with values of
// several kinds, or with those of `inputs` ("NAME=VALUE"). Invalid, with a one-line reason: the file must
// stay unchanged.
Result<std::string> upgraded(const Session& session, const std::string& path, const SourceFile& source,
                             DialectChoice dialect, const std::vector<std::string>& inputs,
                             Diagnostics& diagnostics);

}  // namespace radl::cli
