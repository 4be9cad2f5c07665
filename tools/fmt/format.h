// `radlc fmt`: one layout for every file (docs/tools.md).
//
// Generates the layout from the tree. Tokens, comments, skipped characters and recipe bodies are kept byte
// for byte and in order (only an `and` moves to the end of the preceding feature); white space is generated.
// Formatting is idempotent, and the result's tree equals the source's. Every call verifies both before it
// returns anything.
#pragma once

#include <string>

#include "common/status.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/source/source.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/parser.h"

namespace radl::formatter {

struct Options {
  int width = 100;  // columns; longer lists and groups are split over lines
  int indent = 2;
  DialectChoice dialect = DialectChoice::Auto;  // Ec3: the file belongs to EC3's templates
};

// Formats a tree without syntax errors. LF line ends.
std::string layout(const ast::Tree& tree, const Options& options = {});

// Parses and formats. Uses the line ends of most of the source's lines. Invalid: the source has
// syntax errors (see `diagnostics`). Internal: the result would have another meaning than the
// source.
Result<std::string> format(const SourceFile& source, Diagnostics& diagnostics, const Options& options = {});

// True if two trees are equal except for positions; compares numbers as written.
bool same_meaning(const ast::Tree& left, const ast::Tree& right);

}  // namespace radl::formatter
