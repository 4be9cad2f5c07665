// Numbers, strings and recipes of a file as nodes of its tree.
#pragma once

#include <string>
#include <string_view>

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace radl {

// Of @input.NAME@. Also said by commands that take no inputs: it names those that do.
std::string how_to_give_input(std::string_view name);

class Literals {
 public:
  Literals(const SourceFile& source, ast::Tree& tree, Diagnostics& diagnostics)
      : source_(source), tree_(tree), diagnostics_(diagnostics) {}

  // False in `*fits`: more digits than a number may have; nothing is reported.
  ast::Number* number(Span span, bool* fits);
  // 'text', with both quotes unless `open_end`: then nothing closes it.
  ast::String* text(Span span, bool open_end);
  // "text" of radl 2, with its escapes.
  ast::String* escaped_text(Span span);
  ast::Expr* random(Span span);
  ast::Recipe* recipe(Span span);
  // Literal text between ${ } of a string in single quotes, of one in double quotes, of a block of text.
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
