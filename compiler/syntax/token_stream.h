// Token filter between scanner and parser of RADL 1 and EC3's dialect: keeps comments as trivia, converts
// literals, repairs frequent mistakes with specific messages, and controls error recovery.
//
// Repairs never change the meaning of a valid file: each applies only if every interpretation of the tokens
// is an error.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/syntax/token_source.h"
#include "radl_parser.h"

namespace radl {

class Builder;

// `//`, `/*` and `--`, the comment marks of other languages.
bool foreign_comment_mark(std::string_view junk);

class TokenStream final : private TokenSource {
 public:
  using Value = RADL_GRAMMAR_STYPE;

  TokenStream(const SourceFile& source, ast::Tree& tree, Diagnostics& diagnostics, Builder& build,
              TextEnd* end = nullptr);

  // Returns the next token for the parser with its value and place. Repeats END after the last token.
  int next(Value& value, Place& place);

  // After parsing: warns about skipped junk.
  void report_junk();

  using TokenSource::syntax_error;

 private:
  // The content of a pair of parentheses, which determines where parsing can resume in it.
  enum class Inside : uint8_t { Block, Features, Items, Resources, Value };
  // Created here, never by the scanner. TextEnd: in a text that is still being
  // written.
  enum class Made : uint8_t { No, Sync, Kind, Placeholder, Member, Word, TextEnd };

  struct Token {
    RawKind kind = RawKind::End;
    Made made = Made::No;
    Span span;
  };
  struct Level {
    Inside inside;
    Span open;
  };

  // token_stream.cc
  Token scan();  // the next token that is not trivia
  const Token& peek(size_t ahead = 0);
  Token take();
  void put_back(const Token& token);
  void rewind(uint32_t offset);  // scan again from there
  void follow(Token& token);
  void follow_block(Token& token);
  bool starts_general(const Token& token);
  bool misspelt_keyword(Token& token);
  Inside kind_of_parenthesis() const;
  bool at_line_start(const Token& token) const;
  bool word_like(const Token& token) const;  // could be an id
  Inside inside() const { return levels_.empty() ? Inside::Block : levels_.back().inside; }

  // token_repair.cc
  Token repaired();
  bool missing_and(const Token& token);
  bool missing_close(const Token& token, size_t ahead, RawKind before);
  void close_all(const Token& before);
  bool dangling_and(const Token& token);
  void reversed_operator(Token& token);
  bool quoted_text(const RawToken& quote, Token& made);
  void placeholder(Token& token);
  void recipe_ends(Token& token);

  // mistakes.cc
  std::string_view skipped(uint32_t begin, uint32_t end) const;
  bool missing_open(Token& token);
  bool closes_silently(Span open, const Token& before);
  bool bare_recipe(const Token& token);
  uint32_t recipe_was_to_end(Span recipe) const;
  void resume(uint32_t offset, bool join);
  bool comma_mistake(const Token& found);
  bool list_mistake(const Token& found, const Names& expected);
  bool open_list_mistake(const Token& found);
  bool text_over_feature(const Token& found);
  bool quote_mistake(const Token& found);
  bool operator_mistake(const Token& found);
  bool comment_mistake(const Token& found);
  bool known_mistake(const Token& found, const Names& expected);
  Span foreign_comment(Span token) const;

  // word_mistakes.cc
  bool keyword_mistake(const Token& found, const Names& expected);
  bool reserved_mistake(const Token& found);
  void name_with_digit(Token& token);
  bool unit_of_time(const Token& token);
  void word_for_count(Token& token);
  bool ends_block_early(const Token& found) const;
  std::string missing_piece(const Token& found) const;

  // recovery.cc
  bool failed_at_end() const override { return last_.made == Made::TextEnd; }
  bool undo_last() override;
  bool unclosed_text(Span at, bool resumed) override;
  bool report_error(Span at, const Names& expected, bool written, bool resumed) override;
  bool put_back_last(bool written, bool resumed) override;
  bool at_sync(size_t depth, bool first) override;
  int skip_token(size_t depth) override;
  void queue_sync(Span at) override;
  bool is_sync(const Token& token);
  std::string expectation(const Names& expected) const;
  std::string hint(const Token& found) const;
  bool began_with_unknown_block();

  // token_symbols.cc
  int symbol(const Token& token, Value& value);
  ast::String* text(const Token& token);
  ast::Expr* random(const Token& token);
  ast::Recipe* recipe(const Token& token);

  Builder& build_;
  Token ahead_[4];  // scanned, not yet taken
  size_t ahead_count_ = 0;
  std::deque<Token> out_;      // queued; returned before any other token
  std::vector<Level> levels_;  // open parentheses
  Level closed_{};             // what the last token closed
  Token last_, before_last_;   // already returned
  RawKind last_scanned_ = RawKind::End;
  RawKind block_ = RawKind::End;  // keyword of the current block; Name: a general one
  Span general_;                  // the word that began the block, if it is a general one
  int block_tokens_ = 0;          // in the block at depth 0, including the keyword
  bool braces_ = false;           // a `{` was read as `(`
};

}  // namespace radl
