// Base of the token streams of both grammars: the file, its scanner and literals, skipped text, error counts,
// and the recovery after a syntax error.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"
#include "compiler/syntax/literals.h"
#include "compiler/syntax/place.h"
#include "compiler/syntax/scanner.h"
#include "compiler/syntax/text_end.h"

namespace radl {

// Text of the file inside a message.
inline std::string in_ticks(std::string_view text) { return "`" + std::string(text) + "`"; }

template <class T>
bool is_among(T value, std::initializer_list<T> values) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// "a, b or c"
std::string one_of(const std::vector<std::string>& words);

class TokenSource {
 public:
  // Call if the parser cannot continue at `place`; `expected` are token names from the grammar. Reports the
  // error, skips to a place from which the innermost brackets can be read on, and queues SYNC, which all
  // `error` rules wait for.
  void syntax_error(Place place, std::vector<std::string_view> expected);

 protected:
  using Names = std::vector<std::string_view>;  // of tokens, from a grammar

  TokenSource(const SourceFile& source, ast::Tree& tree, Diagnostics& diagnostics, bool version2,
              bool as_template = false, TextEnd* end = nullptr);

  Span span(uint32_t begin, uint32_t end) const { return {source_.id(), begin, end}; }
  Span here(uint32_t at) const { return span(at, at); }
  // The first newline at or after `at`, or the end.
  uint32_t line_end(uint32_t at) const {
    return static_cast<uint32_t>(std::min(bytes_.find('\n', at), bytes_.size()));
  }

  // Parsing stops at the maximum number of errors per file.
  Diagnostic& error(DiagCode code, Span span, std::string message);
  // "There is no block `sytem`", with the nearest of `blocks`, if any.
  Diagnostic& unknown_block(std::string_view word, Span at, const Names& blocks);
  // Recoveries move back in the text, so two of them could alternate forever without a message. Reports and
  // returns false after too many.
  bool may_recover(Span at);

  // The first line from `at` on that holds nothing but `word`, perhaps indented; npos if there is none.
  static size_t line_of(std::string_view text, size_t at, std::string_view word, bool indented);
  // Reports a recipe at `from` without `@begin`, and returns its end. Returns 0, without a report, if that is
  // not after `found`.
  uint32_t bare_recipe(uint32_t from, Span found, bool upper);

  // In a text that is still being written: true if this string, comment or recipe extends to its end, so that
  // nothing follows.
  bool open_at_end(const RawToken& raw);

  // Keeps text that is not a token as trivia; adjacent pieces are joined. Returns the position if a new piece
  // begins; unknown otherwise, or if the character is invisible.
  Span keep_junk(const RawToken& raw);
  // Drops comments and junk from `from` on: they are scanned again or belong to skipped text.
  void drop_trivia(uint32_t from);
  ast::Number* number(Span span);

  static bool has(const Names& names, std::string_view name);

  // ---- what each grammar adds to the recovery

  virtual ~TokenSource() = default;
  // In a text that is still being written: the parser failed at its end.
  virtual bool failed_at_end() const = 0;
  // Undoes what the last token changed. Returns false if it was made here and is not in the text.
  virtual bool undo_last() = 0;
  // A string without its end explains the error: reports it and resumes. `resumed`: parsing resumed at `at`.
  virtual bool unclosed_text(Span at, bool resumed) = 0;
  // Reports the error unless another message covers it. Returns true if it has resumed already.
  virtual bool report_error(Span at, const Names& expected, bool written, bool resumed) = 0;
  // Prepares the last token to be read again or skipped. Returns true if text must be skipped.
  virtual bool put_back_last(bool written, bool resumed) = 0;
  // Parsing can resume at the next token, `depth` brackets inside the innermost one. `first`: it failed
  // there.
  virtual bool at_sync(size_t depth, bool first) = 0;
  // Skips a token. Returns 1 if it opens a bracket, -1 if it closes one, otherwise 0.
  virtual int skip_token(size_t depth) = 0;
  virtual void queue_sync(Span at) = 0;

  void skip_to_sync(bool first = true);

  const SourceFile& source_;
  ast::Tree& tree_;
  Diagnostics& diagnostics_;
  std::string_view bytes_;
  Literals literals_;
  Scanner scanner_;
  bool stopped_ = false;              // too many errors or too deep: only END follows
  TextEnd* end_ = nullptr;            // null: the text is complete
  uint32_t resumed_at_ = UINT32_MAX;  // where parsing resumed after the last syntax error

 private:
  int errors_ = 0;
  int recoveries_ = 0;  // syntax errors, including those without a message
};

// Same, for findings after parsing.
Diagnostic& report_unknown_block(std::string_view word, Span at, Diagnostics& diagnostics);

}  // namespace radl
