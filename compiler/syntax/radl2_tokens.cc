#include "compiler/syntax/radl2_tokens.h"

#include <utility>

#include "compiler/syntax/parser.h"
#include "compiler/syntax/words.h"

namespace radl {

Radl2Tokens::Radl2Tokens(const SourceFile& source, ast::Tree& tree, Diagnostics& diagnostics, Entry entry,
                         TextEnd* end)
    : TokenSource(source, tree, diagnostics, true, entry == Entry::Template, end), entry_(entry) {
  bool document = entry == Entry::Document || entry == Entry::OlderDocument;
  levels_.push_back({document ? Inside::Blocks : Inside::Expression, {}});
  if (entry == Entry::Template) texts_.push_back(here(0));
}

// ---- scanning

Radl2Tokens::Token Radl2Tokens::scan() {
  bool new_line = scanned_to_ == 0;
  for (;;) {
    RawToken raw = scanner_.next();
    Token token{raw.kind, {source_.id(), raw.begin, raw.end}, false, raw.begin == scanned_to_};
    new_line =
        new_line || bytes_.substr(scanned_to_, raw.begin - scanned_to_).find('\n') != std::string_view::npos;
    scanned_to_ = raw.end;
    if (open_at_end(raw)) return {RawKind::End, here(raw.begin), new_line, token.glued};
    if (raw.kind == RawKind::Comment) {
      tree_.trivia.push(tree_.arena, {ast::TriviaKind::Comment, token.span});
      continue;
    }
    if (raw.kind == RawKind::Junk) {
      if (!junk(raw)) continue;
      token.kind = RawKind::Text;
      token.span.end = line_end(raw.begin);
    }
    token.new_line = new_line;
    return token;
  }
}

const Radl2Tokens::Token& Radl2Tokens::peek(size_t ahead) {
  while (ahead_.size() <= ahead) ahead_.push_back(scan());
  return ahead_[ahead];
}

Radl2Tokens::Token Radl2Tokens::take() {
  Token token = peek();
  ahead_.pop_front();
  return token;
}

int Radl2Tokens::next(Value& value, Place& place) {
  if (!started_) {
    started_ = true;
    place = {0, 0};
    switch (entry_) {
      case Entry::Document:
      case Entry::OlderDocument:
        return RADL2_START_DOCUMENT;
      case Entry::Expression:
        return RADL2_START_EXPRESSION;
      case Entry::Template:
        return RADL2_START_TEMPLATE;
    }
  }
  stopped_ = stopped_ || at_end_;  // the parser skips tokens after an error and did not ask what it expects
  if (stopped_) {
    place.begin = place.end = static_cast<uint32_t>(bytes_.size());
    return RADL2_END;
  }
  Token token;
  Symbol symbol = 0;
  if (end_ != nullptr && out_.empty() && peek().kind == RawKind::End) return end_of_text(place);
  if (out_.empty()) {
    saved_levels_ = levels_;
    saved_texts_ = texts_;
    const Token& ahead = peek();
    if (interpolation_ends(ahead)) {
      // what closes it is in out_
    } else if (argument_follows(ahead)) {
      symbol = RADL2_COMMA;
      token = {RawKind::Comma, here(last_token_.span.end)};
    } else if (unclosed(ahead)) {
      close_all(ahead);
    } else if (ends_entry(ahead)) {
      symbol = separator();
      token = {RawKind::Comma, here(last_token_.span.end)};
    } else {
      token = take();
      symbol = symbol_of(token);
    }
  }
  if (symbol == 0 && !out_.empty()) {
    symbol = out_.front().symbol;
    token = out_.front().token;
    out_.pop_front();
  }
  if (stopped_) {
    place.begin = place.end = static_cast<uint32_t>(bytes_.size());
    return RADL2_END;
  }
  place = token.span;
  if (symbol == RADL2_SYNC) {
    if (end_ != nullptr) end_->symbols.push_back({radl2_token_name(symbol), token.span});
    return symbol;
  }
  literal(token, value);
  return emit(symbol, token);
}

Radl2Tokens::Symbol Radl2Tokens::emit(Symbol symbol, const Token& token) {
  before_last_ = last_;
  before_last_token_ = last_token_;
  last_ = symbol;
  last_token_ = token;
  if (end_ != nullptr) end_->symbols.push_back({radl2_token_name(symbol), token.span});
  report_junk(token.kind == RawKind::End ? UINT32_MAX : before_last_token_.span.begin);
  return symbol;
}

// What is written next may be a word. On a line of its own it begins an entry.
Radl2Tokens::Symbol Radl2Tokens::end_of_text(Place& place) {
  Token word = peek();
  word.kind = RawKind::Name;
  place = word.span;
  if (level().inside != Inside::Items && ends_entry(word))
    return emit(separator(), {RawKind::Comma, here(last_token_.span.end)});
  at_end_ = true;
  return RADL2_RADL2_GRAMMAR_UNDEF;
}

// ---- symbols

Radl2Tokens::Symbol Radl2Tokens::symbol_of(Token& token) {
  switch (token.kind) {
    case RawKind::Open:
    case RawKind::OpenList:
    case RawKind::OpenMap:
    case RawKind::OpenInterpolation:
      return bracket(token);
    case RawKind::Close:
    case RawKind::CloseList:
    case RawKind::CloseMap:
    case RawKind::CloseInterpolation:
      return close(token);
    case RawKind::Comma:
      return comma();
    case RawKind::And:
      if (and_is_name()) break;
      return conjunction(token);
    default:
      break;
  }
  if (is_word(token.kind)) return word(token);
  ++level().words;
  switch (token.kind) {
    case RawKind::End:
      return RADL2_END;
    case RawKind::Number:
      return RADL2_NUMBER;
    case RawKind::Text:
    case RawKind::Random:
    case RawKind::BadRandom:
      text_ = token.span;
      return RADL2_TEXT;
    case RawKind::TextBegin:
      texts_.push_back(token.span);
      return RADL2_TEXT_BEGIN;
    case RawKind::TextPart:
      return RADL2_TEXT_PART;
    case RawKind::TextEnd:
      text_ = token.span;
      if (!texts_.empty()) text_.begin = texts_.back().begin;
      if (!texts_.empty()) texts_.pop_back();
      return RADL2_TEXT_END;
    default:
      break;
  }
  if (token.kind == RawKind::Star && token.glued && last_ == RADL2_NAME && text(last_token_).ends_with('.')) {
    const Span mark = span(last_token_.span.end - 1, token.span.end);
    error(DiagCode::UnexpectedToken, mark, "all elements are `[*]`").fix("write `[*]`", mark, "[*]");
  }
  using enum RawKind;
  static constexpr std::pair<RawKind, Symbol> kSymbols[] = {
      {Recipe, RADL2_RECIPE}, {EmptyRecipe, RADL2_RECIPE}, {OpenRecipe, RADL2_RECIPE}, {EqEq, RADL2_EQEQ},
      {NotEq, RADL2_NE},      {Plus, RADL2_PLUS},          {Minus, RADL2_MINUS},       {Star, RADL2_STAR},
      {Slash, RADL2_SLASH},   {Percent, RADL2_PERCENT}};
  for (auto [kind, symbol] : kSymbols)
    if (kind == token.kind) return symbol;
  if (level().inside != Inside::Expression) {
    level().compared = true;
    level().equals = token.kind == RawKind::Eq;
  }
  constexpr Symbol kComparators[] = {RADL2_EQ, RADL2_LT, RADL2_GT, RADL2_LE, RADL2_GE};
  return kComparators[static_cast<size_t>(token.kind) - static_cast<size_t>(RawKind::Eq)];
}

void Radl2Tokens::literal(const Token& token, Value& value) {
  switch (token.kind) {
    case RawKind::Number:
      value.RADL2_NUMBER = number(token.span);
      return;
    case RawKind::Text:
    case RawKind::BadRandom:
      value.RADL2_TEXT = bytes_[token.span.begin] == '"' ? literals_.escaped_text(token.span)
                                                         : literals_.text(token.span, false);
      if (token.kind == RawKind::BadRandom)
        error(DiagCode::RandomLength, token.span, "`random` takes one digit, from 0 to 9");
      return;
    case RawKind::Random:
      value.RADL2_TEXT = literals_.random(token.span);
      return;
    case RawKind::Recipe:
    case RawKind::EmptyRecipe:
    case RawKind::OpenRecipe:
      if (token.kind == RawKind::EmptyRecipe)
        error(DiagCode::EmptyRecipe, token.span, "a recipe has at least the line of its `@begin`")
            .with_help("write `configure NAME` for a configure without recipe");
      if (token.kind == RawKind::OpenRecipe)
        error(DiagCode::UnclosedRecipe, {source_.id(), token.span.begin, token.span.begin + 6},
              "this recipe never ends")
            .with_help("a recipe ends with `@end` at the start of a line");
      value.RADL2_RECIPE = literals_.recipe(token.span);
      return;
    case RawKind::TextPart: {
      char quote = entry_ == Entry::Template && texts_.size() <= 1 ? '<' : bytes_[texts_.back().begin];
      bool raw = quote == '<' && source_.text(texts_.back()).find('\'') != std::string_view::npos;
      value.RADL2_TEXT_PART = quote == '"'    ? literals_.escaped_part(token.span)
                              : quote == '\'' ? literals_.text_part(token.span)
                              : raw ? tree_.arena.make<ast::StringPart>(text(token), nullptr, token.span)
                                    : literals_.block_part(token.span);
      return;
    }
    default:
      return;
  }
}

}  // namespace radl
