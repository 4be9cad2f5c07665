// Where an entry of `radl 2` ends: which line ends and commas separate.
#include <algorithm>

#include "compiler/syntax/radl2_tokens.h"

namespace radl {
namespace {

// After these, a line continues on the next one.
bool wants_more(int symbol) {
  return is_among<int>(symbol,
                       {RADL2_EQ,   RADL2_LT,   RADL2_GT,    RADL2_LE,       RADL2_GE,    RADL2_EQEQ,
                        RADL2_NE,   RADL2_PLUS, RADL2_MINUS, RADL2_STAR,     RADL2_SLASH, RADL2_PERCENT,
                        RADL2_AND,  RADL2_OR,   RADL2_NOT,   RADL2_IF,       RADL2_THEN,  RADL2_ELSE,
                        RADL2_FOR,  RADL2_IN,   RADL2_COMMA, RADL2_CONTAINS, RADL2_SOFT,  RADL2_AS,
                        RADL2_WHEN, RADL2_STEP, RADL2_WITH,  RADL2_AFTER,    RADL2_CALL});
}

// A line that begins so continues the previous one.
bool goes_on(RawKind kind) {
  using enum RawKind;
  return is_among(kind, {Eq,       Lt,    Gt,    Le,       Ge,    EqEq,      NotEq,    Plus,
                         Minus,    Star,  Slash, Percent,  And,   Or,        Then,     Else,
                         Contains, Comma, Open,  OpenList, Close, CloseList, CloseMap, CloseInterpolation,
                         End});
}

}  // namespace

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
  if (peek().kind == RawKind::Close || peek().kind == RawKind::CloseMap) {
    Token closer = take();
    return symbol_of(closer);
  }
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
      .with_help("a feature ends with its line or a comma")
      .fix("insert a comma", here(last_token_.span.end), ",");
  return true;
}

// The `)` of a resource ends it; a comma may follow.
bool Radl2Tokens::behind_resource() const {
  return level().inside == Inside::Resources && last_ == RADL2_RPAREN;
}

// True if the `and` just read is where only a name can be.
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

// True if the `and` that was just read separates two entries: an operator lacks an operand, or only a feature
// can follow. A number or string alone is not an operand of `and`.
bool Radl2Tokens::joins_entries() {
  const Level& at = level();
  switch (at.inside) {
    case Inside::Items:
      return text(peek()) == "system";
    case Inside::Resources:
      return at.words != 0 || behind_resource();
    case Inside::Features: {
      if (at.words == 0 || !feature_follows()) return at.words != 0 && !at.compared;
      const bool literal = (at.words == 3 && (last_ == RADL2_NUMBER || last_ == RADL2_TEXT)) ||
                           (at.words == 4 && last_ == RADL2_UNIT);
      const RawKind second = peek(1).kind;
      return literal || entry_ == Entry::OlderDocument || second == RawKind::Eq ||
             second == RawKind::Contains || second == RawKind::Number;
    }
    default:
      return false;
  }
}

Radl2Tokens::Symbol Radl2Tokens::conjunction(const Token& token) {
  const bool features = level().inside == Inside::Features && level().words != 0;
  if (features && peek().kind == RawKind::Close) {
    error(DiagCode::TrailingAnd, token.span, "`and` with nothing behind it").fix("remove it", token.span, "");
    Token closer = take();
    return stopped_ ? RADL2_END : symbol_of(closer);
  }
  if (!joins_entries()) return RADL2_AND;
  const bool condition =
      last_ == RADL2_NAME || last_ == RADL2_MEMBER || last_ == RADL2_RPAREN || last_ == RADL2_RBRACKET;
  if (features && condition && level().equals && !token.new_line && !peek().new_line &&
      is_comparator(peek(1).kind) && peek(1).kind != RawKind::Eq)
    error(DiagCode::UnexpectedToken, token.span, "this `and` could join two features or two conditions");
  if (entry_ != Entry::OlderDocument)
    error(DiagCode::UnexpectedToken, token.span, "`and` joins conditions, not features")
        .with_help(
            "in `radl 2` a feature ends with its line or a comma; `radlc fmt --upgrade` rewrites a whole "
            "file")
        .fix("write a comma", cover(here(last_token_.span.end), token.span), ",");
  return stopped_ ? RADL2_END : separator();
}

}  // namespace radl
