#include "compiler/syntax/radl2_tokens.h"

#include <algorithm>

#include "compiler/syntax/parser.h"

namespace radl {
namespace {

bool is_word(RawKind kind) { return kind == RawKind::Name || is_word_token(kind); }

// After these a line goes on with the next one.
bool wants_more(int symbol) {
  switch (symbol) {
    case RADL2_EQ:
    case RADL2_LT:
    case RADL2_GT:
    case RADL2_LE:
    case RADL2_GE:
    case RADL2_EQEQ:
    case RADL2_NE:
    case RADL2_PLUS:
    case RADL2_MINUS:
    case RADL2_STAR:
    case RADL2_SLASH:
    case RADL2_PERCENT:
    case RADL2_AND:
    case RADL2_OR:
    case RADL2_NOT:
    case RADL2_IF:
    case RADL2_THEN:
    case RADL2_ELSE:
    case RADL2_FOR:
    case RADL2_IN:
    case RADL2_COMMA:
    case RADL2_CONTAINS:
    case RADL2_SOFT:
    case RADL2_AS:
    case RADL2_WHEN:
    case RADL2_STEP:
    case RADL2_WITH:
    case RADL2_AFTER:
    case RADL2_CALL:
      return true;
    default:
      return false;
  }
}

// A line that begins so goes on with the one before.
bool goes_on(RawKind kind) {
  switch (kind) {
    case RawKind::Eq:
    case RawKind::Lt:
    case RawKind::Gt:
    case RawKind::Le:
    case RawKind::Ge:
    case RawKind::EqEq:
    case RawKind::NotEq:
    case RawKind::Plus:
    case RawKind::Minus:
    case RawKind::Star:
    case RawKind::Slash:
    case RawKind::Percent:
    case RawKind::And:
    case RawKind::Or:
    case RawKind::Then:
    case RawKind::Else:
    case RawKind::Contains:
    case RawKind::Comma:
    case RawKind::Open:
    case RawKind::OpenList:
    case RawKind::Close:
    case RawKind::CloseList:
    case RawKind::CloseMap:
    case RawKind::CloseInterpolation:
    case RawKind::End:
      return true;
    default:
      return false;
  }
}

}  // namespace

Radl2Tokens::Radl2Tokens(const SourceFile& source, ast::Tree& tree, Diagnostics& diagnostics, Entry entry)
    : TokenSource(source, source.whole(), tree, diagnostics, true, entry == Entry::Template), entry_(entry) {
  levels_.push_back({entry == Entry::Document ? Inside::Blocks : Inside::Expression, {}});
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
        return RADL2_START_DOCUMENT;
      case Entry::Expression:
        return RADL2_START_EXPRESSION;
      case Entry::Template:
        return RADL2_START_TEMPLATE;
    }
  }
  if (stopped_) {
    place.begin = place.end = static_cast<uint32_t>(bytes_.size());
    return RADL2_END;
  }
  Token token;
  Symbol symbol = 0;
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
  if (symbol == RADL2_SYNC) return symbol;
  literal(token, value);
  return emit(symbol, token);
}

Radl2Tokens::Symbol Radl2Tokens::emit(Symbol symbol, const Token& token) {
  before_last_ = last_;
  before_last_token_ = last_token_;
  last_ = symbol;
  last_token_ = token;
  report_junk(token.kind == RawKind::End ? UINT32_MAX : before_last_token_.span.begin);
  return symbol;
}

// ---- entries

bool Radl2Tokens::ends_entry(const Token& token) {
  if (!token.new_line || level().inside == Inside::Expression || level().words == 0) return false;
  if (wants_more(last_) || !texts_.empty()) return false;
  if (names_entry(token)) return true;
  if (goes_on(token.kind)) return false;
  std::string_view word = text(token);
  if (level().inside == Inside::Items)
    return word != "configure" && word != "step" && word != "with" && word != "after" && word != "when";
  if (level().inside == Inside::Blocks) return word != "as" && word != "when";
  return level().inside != Inside::Map || (word != "for" && word != "if");
}

// On a line of its own: a name in front of `=`, whatever word that is, and `(key) = value` of a map.
bool Radl2Tokens::names_entry(const Token& token) {
  if (level().inside == Inside::Map && token.kind == RawKind::Open) return true;
  if (level().inside != Inside::Map && level().inside != Inside::Features) return false;
  return is_word(token.kind) && peek(1).kind == RawKind::Eq;
}

void Radl2Tokens::end_entry() {
  level().keyword = 0;
  level().words = 0;
  level().compared = level().after = false;
}

Radl2Tokens::Symbol Radl2Tokens::separator() {
  end_entry();
  return RADL2_SEP;
}

Radl2Tokens::Symbol Radl2Tokens::comma() {
  if (level().inside == Inside::Expression || level().inside == Inside::Blocks) return RADL2_COMMA;
  if (before_last_ == RADL2_FOR) return RADL2_COMMA;
  if (level().inside == Inside::Items && level().after) {
    std::string_view word = text(peek());
    if (word != "system" && word != "option" && word != "each" && peek().kind != RawKind::Close)
      return RADL2_COMMA;
  }
  if (level().keyword == RADL2_EACH && level().words == 2) return RADL2_COMMA;
  if (level().words == 0 && !behind_resource()) return RADL2_COMMA;  // an error
  if (peek().kind == RawKind::Close || peek().kind == RawKind::CloseMap) return symbol_of(take());
  return separator();
}

// Named arguments of a call end with their lines, as features do.
bool Radl2Tokens::argument_follows(const Token& token) {
  return token.new_line && level().named && level().closer == RawKind::Close && value_complete() &&
         is_word(token.kind) && peek(1).kind == RawKind::Eq;
}

// Does a feature begin at the next token?
bool Radl2Tokens::feature_follows() {
  const Token first = peek(0), second = peek(1);
  if (first.kind == RawKind::Soft && second.kind == RawKind::Number) return true;
  if (!is_word(first.kind)) return false;
  if (second.kind == RawKind::Eq || second.kind == RawKind::Contains) return true;
  if (!level().ranges || !is_comparator(second.kind)) return false;
  std::string_view name = text(first);
  for (std::string_view root : {"input.", "self.", "system.", "module.", "output."})
    if (name.starts_with(root)) return false;
  return true;
}

// A word behind a complete value begins the next feature when a comparator follows it.
bool Radl2Tokens::feature_follows_here(const Token& token) {
  if (!value_complete()) return false;
  RawKind behind = peek().kind;
  if (!is_comparator(behind) && behind != RawKind::Contains) return false;
  // `when = 2G < input.size`: a unit, not the name of a feature.
  const bool begins = behind == RawKind::Eq || behind == RawKind::Contains;
  if (unit_follows(token) && (token.glued || !begins)) return false;
  bool semicolon = std::any_of(junk_.begin(), junk_.end(), [&](Span piece) {
    return piece.begin >= last_token_.span.end && source_.text(piece) == ";";
  });
  if (semicolon) return true;  // says so itself
  error(DiagCode::MissingAnd, token.span,
        "nothing separates " + std::string("`") + std::string(text(token)) + "` from the feature before")
      .with_help("features are separated by a new line, a comma or `and`")
      .fix("insert a comma", here(last_token_.span.end), ",");
  return true;
}

// The `)` of a resource ends it; a comma or `and` may follow.
bool Radl2Tokens::behind_resource() const {
  return level().inside == Inside::Resources && last_ == RADL2_RPAREN;
}

// Whether the `and` that was just taken stands where only a name can.
bool Radl2Tokens::and_is_name() {
  RawKind behind = peek().kind;
  switch (level().inside) {
    case Inside::Features:
      return level().words == 0 && is_comparator(behind);
    case Inside::Map:
      return level().words == 0 && behind == RawKind::Eq;
    case Inside::Expression:
      return (last_ == RADL2_LPAREN || last_ == RADL2_COMMA) && behind == RawKind::Eq;
    case Inside::Blocks:
      return level().keyword != 0 && (level().words == 1 || last_ == RADL2_AS);
    case Inside::Items:
      return last_ == RADL2_SYSTEM || last_ == RADL2_CONFIGURE || last_ == RADL2_AFTER;
    default:
      return false;
  }
}

// `and`: an operator, or what stands between two entries.
Radl2Tokens::Symbol Radl2Tokens::conjunction(const Token& token) {
  switch (level().inside) {
    case Inside::Items:
      return text(peek()) == "system" ? separator() : RADL2_AND;
    case Inside::Resources:
      return level().words == 0 && !behind_resource() ? RADL2_AND : separator();
    case Inside::Features:
      break;
    default:
      return RADL2_AND;
  }
  if (level().words == 0) return RADL2_AND;  // an error
  RawKind behind = peek().kind;
  if (behind == RawKind::Close) {
    error(DiagCode::TrailingAnd, token.span, "`and` with no feature behind it")
        .fix("remove it", token.span, "");
    return stopped_ ? RADL2_END : symbol_of(take());
  }
  return !level().compared || feature_follows() ? separator() : RADL2_AND;
}

// ---- symbols

Radl2Tokens::Symbol Radl2Tokens::symbol_of(const Token& token) {
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
    case RawKind::Recipe:
    case RawKind::EmptyRecipe:
    case RawKind::OpenRecipe:
      return RADL2_RECIPE;
    case RawKind::EqEq:
      return RADL2_EQEQ;
    case RawKind::NotEq:
      return RADL2_NE;
    case RawKind::Plus:
      return RADL2_PLUS;
    case RawKind::Minus:
      return RADL2_MINUS;
    case RawKind::Star:
      return RADL2_STAR;
    case RawKind::Slash:
      return RADL2_SLASH;
    case RawKind::Percent:
      return RADL2_PERCENT;
    default:
      break;
  }
  if (level().inside != Inside::Expression) level().compared = true;
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
