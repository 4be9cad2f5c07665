// Builds tree nodes for numbers, strings and recipes.
#pragma once

#include <string>
#include <string_view>

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace radl {

// Help text for @input.NAME@. Also used by commands without inputs; it names the ones that accept them.
std::string how_to_give_input(std::string_view name);

class Literals {
 public:
  Literals(const SourceFile& source, ast::Tree& tree, Diagnostics& diagnostics)
      : source_(source), tree_(tree), diagnostics_(diagnostics) {}

  // Sets `*fits` to false, without a report, if there are too many digits.
  ast::Number* number(Span span, bool* fits);
  // 'text' with both quotes. If `open_end`, the closing quote is missing.
  ast::String* text(Span span, bool open_end);
  // "text" of radl 2, with its escapes.
  ast::String* escaped_text(Span span);
  ast::Expr* random(Span span);
  ast::Recipe* recipe(Span span);
  // Literal text between ${ } in a single-quoted string, a double-quoted string, or a text block.
  ast::StringPart* text_part(Span span);
  ast::StringPart* escaped_part(Span span);
  ast::StringPart* block_part(Span span);

 private:
  std::string_view ascii_digits(std::string_view text);
  std::string_view decode(std::string_view text);
  std::string_view decode_escapes(Span span);
  std::string_view decode_dollars(std::string_view text);
  void unfilled_input(std::string_view text, uint32_t file, uint32_t offset);
  bool radl2() const { return tree_.dialect == ast::Dialect::Radl2; }

  const SourceFile& source_;
  ast::Tree& tree_;
  Diagnostics& diagnostics_;
};

}  // namespace radl
