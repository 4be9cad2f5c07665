// What the token streams of the two grammars share: the file, its scanner and literals, what is skipped, and
// how errors are counted.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/literals.h"
#include "compiler/syntax/scanner.h"
#include "compiler/syntax/text_end.h"

namespace radl {

// Words of a file inside a message.
inline std::string in_ticks(std::string_view text) { return "`" + std::string(text) + "`"; }

template <class T>
bool is_among(T value, std::initializer_list<T> values) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// "a, b or c"
std::string one_of(const std::vector<std::string>& words);

class TokenSource {
 protected:
  using Names = std::vector<std::string_view>;  // of tokens, from a grammar

  TokenSource(const SourceFile& source, ast::Tree& tree, Diagnostics& diagnostics, bool version2,
              bool as_template = false, TextEnd* end = nullptr);

  Span span(uint32_t begin, uint32_t end) const { return {source_.id(), begin, end}; }
  Span here(uint32_t at) const { return span(at, at); }
  // The first newline at or behind that place, or the end.
  uint32_t line_end(uint32_t at) const {
    return static_cast<uint32_t>(std::min(bytes_.find('\n', at), bytes_.size()));
  }

  // Reading stops after as many as a file may have.
  Diagnostic& error(DiagCode code, Span span, std::string message);
  // "There is no block `sytem`", with the one of `blocks` that comes near, if one does.
  Diagnostic& unknown_block(std::string_view word, Span at, const Names& blocks);
  // Recoveries go back in the text, so two of them could take turns for ever, and without a message each
  // time: false, reported, when there were too many.
  bool may_recover(Span at);

  // Of a text that is still being written: whether this string, comment or recipe reaches to its end. Then
  // nothing follows.
  bool open_at_end(const RawToken& raw);

  // Keeps what begins no token as trivia; those of one run become one piece. The character's place when it
  // began a piece; unknown when it did not, or shows nothing.
  Span keep_junk(const RawToken& raw);
  // Forgets comments and junk from there on: they are scanned again, or belong to what was skipped.
  void drop_trivia(uint32_t from);
  ast::Number* number(Span span);

  static bool has(const Names& names, std::string_view name);

  const SourceFile& source_;
  ast::Tree& tree_;
  Diagnostics& diagnostics_;
  std::string_view bytes_;
  Literals literals_;
  Scanner scanner_;
  bool stopped_ = false;              // too many errors or too deep: only END from here on
  TextEnd* end_ = nullptr;            // null: the text is whole
  uint32_t resumed_at_ = UINT32_MAX;  // where reading went on after the last syntax error

 private:
  int errors_ = 0;
  int recoveries_ = 0;  // syntax errors, those without a message as well
};

// The same for what is found after parsing.
Diagnostic& report_unknown_block(std::string_view word, Span at, Diagnostics& diagnostics);

}  // namespace radl
