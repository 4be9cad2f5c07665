// `radlc fmt`: one layout for every file. docs/tools.md describes it.
//
// The text is laid out anew from the tree: tokens, comments, skipped characters and recipe bodies are kept
// byte for byte and in their order (only an `and` moves to the end of the feature before it), white space is
// decided here. Formatting a formatted text changes nothing, and the result's tree equals the source's: both
// are checked on every call, before anything is returned.
#pragma once

#include <string>

#include "common/status.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/source/source.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/parser.h"

namespace radl::formatter {

struct Options {
  int width = 100;  // columns; longer lists and groups are spread over lines
  int indent = 2;
  DialectChoice dialect = DialectChoice::Auto;  // Ec3: the file belongs to templates of EC3
};

// Lays out a tree without syntax errors. LF line ends.
std::string layout(const ast::Tree& tree, const Options& options = {});

// Parses and lays out. Line ends as in most of the source's lines. Invalid when the source has syntax errors
// (they are in `diagnostics`): such a string is left alone. Internal when the result would not say the same
// as the source.
Result<std::string> format(const SourceFile& source, Diagnostics& diagnostics, const Options& options = {});

// Do two trees say the same? Compares everything but places; numbers as written.
bool same_meaning(const ast::Tree& left, const ast::Tree& right);

}  // namespace radl::formatter
