// `radlc fmt --upgrade`: a file as `radl 2`, where that comes to the same program.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/source/source.h"
#include "compiler/syntax/parser.h"
#include "runtime/cli/command.h"

namespace radl::cli {

// The new text. Both texts are compiled and their programs compared: for @input.NAME@ with values of several
// kinds, or with those of `inputs` ("NAME=VALUE"). Invalid, with one line that says why, where the file is
// left alone.
Result<std::string> upgraded(const Session& session, const std::string& path, const SourceFile& source,
                             DialectChoice dialect, const std::vector<std::string>& inputs,
                             Diagnostics& diagnostics);

}  // namespace radl::cli
