// Parser for the older `radl 2`, in which `and` also separated entries: for `radlc fmt --upgrade`.
#pragma once

#include <memory>

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace radl {

// Accepts `and` between entries where only an entry can follow. The file begins with `radl 2`.
std::unique_ptr<ast::Tree> parse_older(const SourceFile& source, Diagnostics& diagnostics);

}  // namespace radl
