// Token filter between the scanner and the grammar of `radl 2` (grammar/radl2.yy). Decides the meaning of a
// word at its position, which line ends and commas separate entries, which parenthesis begins a body, and
// where parsing resumes after an error.
//
// Entries (blocks, features, resources, items, entries of a map) end with their line. A line continues on the
// next one after an operator or a comma, before an operator, and inside the parentheses of an expression. A
// line that begins with a word and `=`, or inside braces with `(`, always begins an entry. `and` is an
// operator. Between two entries it is an error with its own message; only the older syntax that `radlc fmt
// --upgrade` reads uses it as a separator (Entry::OlderDocument). Words that begin a block are reserved where
// a block may begin; likewise those of resources and items.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/syntax/token_source.h"
#include "radl2_parser.h"

namespace radl {

class Radl2Tokens final : private TokenSource {
 public:
  using Value = RADL2_GRAMMAR_STYPE;
  enum class Entry : uint8_t { Document, OlderDocument, Expression, Template };

  Radl2Tokens(const SourceFile& source, ast::Tree& tree, Diagnostics& diagnostics, Entry entry,
              TextEnd* end = nullptr);

  // Returns the next token for the parser with its value and place. Repeats END after the last token.
  int next(Value& value, Place& place);

  using TokenSource::syntax_error;

 private:
  using Symbol = int;  // of the grammar

  // The content of a pair of brackets.
  enum class Inside : uint8_t { Blocks, Features, Resources, Items, Map, Expression };

  struct Token {
    RawKind kind = RawKind::End;
    Span span;
    bool new_line = false;  // the first token of its line
    bool glued = false;     // no space before it
  };
  struct Level {
    Inside inside = Inside::Blocks;
    Span open;
    RawKind closer = RawKind::End;
    bool ranges = false;    // features that allow <, >, <=, >=
    Symbol keyword = 0;     // that began the current entry; 0: a name
    int words = 0;          // tokens of the entry so far
    bool compared = false;  // its comparison operator has been read: a value follows
    bool equals = false;    // the operator is `=`
    bool after = false;     // in the names after `after`
    bool named = false;     // arguments of a call with names: `object(a = string, ...)`
  };

  // radl2_tokens.cc
  Token scan();
  const Token& peek(size_t ahead = 0);
  Token take();
  std::string_view text(const Token& token) const { return source_.text(token.span); }
  Level& level() { return levels_.back(); }
  const Level& level() const { return levels_.back(); }
  Symbol emit(Symbol symbol, const Token& token);
  Symbol end_of_text(Place& place);
  // The token becomes the next one if omitted.
  Symbol symbol_of(Token& token);
  void literal(const Token& token, Value& value);

  // radl2_entries.cc
  static bool is_word(RawKind kind) { return kind == RawKind::Name || is_word_token(kind); }
  Symbol separator();
  Symbol comma();
  bool and_is_name();
  bool joins_entries();
  Symbol conjunction(const Token& token);
  bool behind_resource() const;
  bool ends_entry(const Token& token);
  bool names_entry(const Token& token);
  bool argument_follows(const Token& token);
  bool feature_follows();
  bool feature_follows_here(const Token& token);
  void end_entry();

  // radl2_brackets.cc
  bool value_position() const;
  bool value_complete() const;
  Inside body_inside() const;
  Symbol bracket(const Token& token);
  Symbol close(Token& token);
  bool left_open(const Token& token);

  // radl2_words.cc
  Symbol word(const Token& token);
  Symbol word_of_value(const Token& token);
  Symbol word_of_blocks(const Token& token);
  Symbol word_of_features(const Token& token);
  Symbol word_of_items(const Token& token);
  Symbol name_or_call();
  bool unit_follows(const Token& token) const;

  // radl2_recovery.cc
  bool unclosed(const Token& token);
  bool repeats_blocks();
  bool expression_left_open(const Token& token);
  Diagnostic& report_unclosed(bool on_its_line);  // the innermost bracket
  void close_all(const Token& before);
  void close_levels(size_t keep, uint32_t at);
  size_t innermost_interpolation() const;  // 1 + its level; 0 if none
  bool interpolation_ends(const Token& token);
  void unclosed_interpolation(size_t level);
  bool failed_at_end() const override { return at_end_; }
  bool undo_last() override;
  bool unclosed_text(Span at, bool resumed) override;
  bool report_error(Span at, const Names& expected, bool written, bool resumed) override;
  bool put_back_last(bool written, bool resumed) override;
  bool at_sync(size_t depth, bool first) override;
  int skip_token(size_t depth) override;
  void queue_sync(Span at) override;
  bool interpolation_never_ends(Span at);
  bool runaway_text(Span at);
  void scan_from(uint32_t offset, uint32_t forget);  // forgets comments and junk from there on
  bool at_line_end() const { return last_token_.kind == RawKind::Comment && last_ == RADL2_SEP; }
  bool junk(const RawToken& raw);
  uint32_t unclosed_block(Span begin);
  uint32_t before_closers(Span line) const;
  void report_junk(uint32_t before);
  bool first_column(const Token& token) const;

  // radl2_mistakes.cc
  std::string expectation(const std::vector<std::string_view>& expected) const;
  bool known_mistake(const Token& found);
  bool mistake_of_head(const Token& found);
  bool mistake_of_value(const Token& found);
  bool mistake_of_block(const Token& found);
  void report_junk(Span piece);

  // radl2_hints.cc
  std::string hint(const Token& found) const;
  std::string hint_of_form(std::string_view word, const Token& found) const;

  Entry entry_;
  bool started_ = false;
  bool at_end_ = false;  // of a text that is still being written
  std::deque<Token> ahead_;
  uint32_t scanned_to_ = 0;
  struct Out {
    Symbol symbol;
    Token token;
  };
  std::deque<Out> out_;  // queued; returned before any other token
  std::vector<Level> levels_;
  std::vector<Span> texts_;  // opening quotes of strings being read
  Span text_;                // the last complete string
  // State before the last token, for an error at that token.
  std::vector<Level> saved_levels_;
  std::vector<Span> saved_texts_;
  Symbol last_ = 0, before_last_ = 0;
  Token last_token_, before_last_token_;
  std::vector<Span> junk_;  // not reported yet
  std::set<uint32_t>
      junk_lines_;  // ends of lines that contain junk; the rest of such a line causes no further errors
};

}  // namespace radl
