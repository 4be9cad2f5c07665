// Text to tree. Always gives a tree; what is wrong with the text goes to the diagnostics, all of it in one
// run.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace radl {

// Auto: the file is EC3's when it bears one of EC3's marks (docs/decisions/ec3-dialect.md).
enum class DialectChoice : uint8_t { Auto, Radl1, Ec3 };

struct ParseOptions {
  DialectChoice dialect = DialectChoice::Auto;
};

// Limits that keep a hostile file from costing more than its size; beyond them there is one clear error.
inline constexpr int kMaxNesting = 200;         // parentheses, brackets and ${ } within each other
inline constexpr size_t kMaxNumberDigits = 38;  // what 128 bits hold

std::unique_ptr<ast::Tree> parse(const SourceFile& source, Diagnostics& diagnostics,
                                 const ParseOptions& options = {});

// Several files of one command line: a mark of EC3 in one makes all of them EC3's.
std::vector<std::unique_ptr<ast::Tree>> parse_all(const std::vector<const SourceFile*>& sources,
                                                  Diagnostics& diagnostics, const ParseOptions& options = {});

// One radl 2 expression over the whole text (for `radlc console`). The tree owns the nodes.
struct ParsedExpression {
  std::unique_ptr<ast::Tree> tree;
  const ast::Expr* value = nullptr;  // never null; an ErrorValue after an error
};
ParsedExpression parse_expression(const SourceFile& source, Diagnostics& diagnostics);
// The whole text as one string with ${ } (the function template()).
ParsedExpression parse_template(const SourceFile& source, Diagnostics& diagnostics);

// The token stream, for semantic highlighting and the formatter. Trivia included, in order, gaps are spaces.
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
