// Between the scanner and the grammar of `radl 2` (grammar/radl2.yy): decides what a word is where it stands,
// which line ends and commas separate entries, which parenthesis begins a body, and where reading goes on
// after an error.
//
// Entries (blocks, features, resources, items, entries of a map) end with their line. A line goes on with the
// next one behind an operator or a comma, before an operator, and inside the parentheses of an expression.
// A line that begins with a word and `=`, or inside braces with `(`, is always an entry of its own.
// `and` is an operator. Between two entries it is a mistake with a message of its own; only a file of the
// surface before, which `radlc fmt --upgrade` reads, separates with it (Entry::OlderDocument).
// The words that begin a block are reserved where one may begin, and so are those of resources and items.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/syntax/token_source.h"
#include "radl2_parser.h"

namespace radl {

class Radl2Tokens : private TokenSource {
 public:
  using Value = RADL2_GRAMMAR_STYPE;
  enum class Entry : uint8_t { Document, OlderDocument, Expression, Template };

  Radl2Tokens(const SourceFile& source, ast::Tree& tree, Diagnostics& diagnostics, Entry entry,
              TextEnd* end = nullptr);

  // The next token for the parser, its value and place; END for ever after the last one.
  int next(Value& value, Place& place);

  // The parser could not go on at `place`; `expected` are names of tokens from the grammar. Reports, and
  // makes the next tokens SYNC and the place from which reading goes on.
  void syntax_error(Place place, std::vector<std::string_view> expected);

 private:
  using Symbol = int;  // of the grammar

  // What stands between a pair of brackets.
  enum class Inside : uint8_t { Blocks, Features, Resources, Items, Map, Expression };

  struct Token {
    RawKind kind = RawKind::End;
    Span span;
    bool new_line = false;  // the first of its line
    bool glued = false;     // nothing between it and the one before
  };
  struct Level {
    Inside inside = Inside::Blocks;
    Span open;
    RawKind closer = RawKind::End;
    bool ranges = false;    // features with <, >, <=, >=
    Symbol keyword = 0;     // that began the entry at hand; 0: a name
    int words = 0;          // tokens of the entry so far
    bool compared = false;  // its comparator has been read: what follows is a value
    bool equals = false;    // it is `=`
    bool after = false;     // in the names behind `after`
    bool named = false;     // arguments of a call that have names: `object(a = string, ...)`
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
  // The token becomes the next one if it is left out.
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
  size_t innermost_interpolation() const;  // 1 + its level; 0: none
  bool interpolation_ends(const Token& token);
  void unclosed_interpolation(size_t level);
  bool runaway_text(Span at);
  void skip_to_sync(bool behind_error = true);  // the next token is the one at which the error is
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
  std::deque<Out> out_;  // to be handed out before anything else
  std::vector<Level> levels_;
  std::vector<Span> texts_;  // opening quotes of strings that are being read
  Span text_;                // the last string that was read to its end
  // As they were before the last token, for an error at it.
  std::vector<Level> saved_levels_;
  std::vector<Span> saved_texts_;
  Symbol last_ = 0, before_last_ = 0;
  Token last_token_, before_last_token_;
  std::vector<Span> junk_;  // not yet reported
  std::set<uint32_t>
      junk_lines_;  // ends of the lines that hold some: what follows on them is no mistake of its own
};

}  // namespace radl
