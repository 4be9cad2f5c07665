// `radl 2` as it was before `and` became an operator only: for `radlc fmt --upgrade`.
#pragma once

#include <memory>

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace radl {

// Entries may be separated by `and`, where what follows can only be an entry. The file begins with `radl 2`.
std::unique_ptr<ast::Tree> parse_older(const SourceFile& source, Diagnostics& diagnostics);

}  // namespace radl
