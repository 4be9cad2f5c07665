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

// Reads the features of the systems of a large RADL 1 file as the parser makes them. The parser keeps none: a
// file's systems would be most of its tree, which is written once and read once otherwise.
class SystemTaker {
 public:
  virtual ~SystemTaker() = default;
  // The file is read in so many parts, side by side; what was taken before is to be forgotten.
  virtual void begin(size_t parts) = 0;
  // On the thread of that part, in the order of the file. The features are gone when it returns.
  virtual void take(const ast::FeatureBlock& system, size_t part) = 0;
  // Something in the file was no plain RADL 1: its systems are all kept, and what was taken is void.
  virtual void withdraw() = 0;
};

struct ParseOptions {
  DialectChoice dialect = DialectChoice::Auto;
  SystemTaker* systems = nullptr;  // may take those of a large file
};

// Limits that keep a hostile file from costing more than its size; beyond them there is one clear error.
inline constexpr int kMaxNesting = 200;         // parentheses, brackets and ${ } within each other
inline constexpr size_t kMaxNumberDigits = 38;  // what 128 bits hold

std::unique_ptr<ast::Tree> parse(const SourceFile& source, Diagnostics& diagnostics,
                                 const ParseOptions& options = {});

// Several files of one command line: a mark of EC3 in one makes all of them EC3's.
std::vector<std::unique_ptr<ast::Tree>> parse_all(const std::vector<const SourceFile*>& sources,
                                                  Diagnostics& diagnostics, const ParseOptions& options = {});

// A system that was taken (ast::Features::taken), read again from its file. Null for what is no such block.
std::unique_ptr<ast::Tree> read_again(const SourceFile& source, Span system);

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
