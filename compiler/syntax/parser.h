// Parses text to a tree. Always returns a tree, and reports all errors in one
// run.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace radl {

// Auto: the file is EC3's if it contains one of EC3's marks (docs/decisions/ec3-dialect.md).
enum class DialectChoice : uint8_t { Auto, Radl1, Ec3 };

struct ParseOptions {
  DialectChoice dialect = DialectChoice::Auto;
};

// Limits the cost of a hostile file. Exceeding one is a single clear error.
inline constexpr int kMaxNesting = 200;         // nested parentheses, brackets and ${ }
inline constexpr size_t kMaxNumberDigits = 38;  // fits into 128 bits

std::unique_ptr<ast::Tree> parse(const SourceFile& source, Diagnostics& diagnostics,
                                 const ParseOptions& options = {});

// Parses the files of a command line: an EC3 mark in one makes all of them EC3's.
std::vector<std::unique_ptr<ast::Tree>> parse_all(const std::vector<const SourceFile*>& sources,
                                                  Diagnostics& diagnostics, const ParseOptions& options = {});

// Parses the whole text as one radl 2 expression (for `radlc console`). The tree owns the nodes.
struct ParsedExpression {
  std::unique_ptr<ast::Tree> tree;
  const ast::Expr* value = nullptr;  // never null; an ErrorValue after an error
};
ParsedExpression parse_expression(const SourceFile& source, Diagnostics& diagnostics);
// Parses the whole text as one string with ${ } (the function template()).
ParsedExpression parse_template(const SourceFile& source, Diagnostics& diagnostics);

// The token stream for semantic highlighting and the formatter: in order, with trivia; gaps are spaces.
enum class TokenClass : uint8_t {
  Keyword,
  Name,
  Number,
  String,
  Operator,
  Parenthesis,
  Recipe,
  Comment,
  Junk
};
struct Token {
  TokenClass cls;
  Span span;
};
std::vector<Token> tokenize(const SourceFile& source);

}  // namespace radl
