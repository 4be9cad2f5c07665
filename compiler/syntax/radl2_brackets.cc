// The content of a pair of brackets of `radl 2`: a body with entries, or a part of a value.
#include "compiler/syntax/parser.h"
#include "compiler/syntax/radl2_tokens.h"

namespace radl {

bool Radl2Tokens::value_complete() const {
  return is_among<int>(last_, {RADL2_NAME, RADL2_MEMBER, RADL2_UNIT, RADL2_NUMBER, RADL2_TEXT, RADL2_TEXT_END,
                               RADL2_RPAREN, RADL2_RBRACKET, RADL2_RBRACE});
}

// The text here belongs to a value.
bool Radl2Tokens::value_position() const {
  const Level& at = level();
  switch (at.inside) {
    case Inside::Expression:
    case Inside::Map:
      return true;
    case Inside::Features:
      return at.compared && (at.keyword != RADL2_EACH || !value_complete());
    case Inside::Resources:
      if (at.keyword == RADL2_LET) return at.compared;
      return at.keyword == RADL2_EACH ? at.compared && !value_complete() : false;
    case Inside::Items:
      return at.keyword == RADL2_EACH ? at.compared && !value_complete() : at.compared;
    case Inside::Blocks:
      if (at.keyword == RADL2_EACH) return at.compared && !value_complete();
      if (at.keyword == RADL2_DEPLOY) return at.words >= 2;
      return at.keyword == RADL2_LET || at.keyword == RADL2_ASSERT || at.keyword == RADL2_MOVED ||
             at.compared;
  }
  return true;
}

// Of the body that begins here.
Radl2Tokens::Inside Radl2Tokens::body_inside() const {
  const Level& at = level();
  if (at.keyword == RADL2_EACH) return at.inside;
  if (at.keyword == RADL2_CONFIGURE && at.inside == Inside::Blocks) return Inside::Resources;
  if (at.keyword == RADL2_CONTEXTUALIZE) return Inside::Items;
  return Inside::Features;
}

Radl2Tokens::Symbol Radl2Tokens::bracket(const Token& token) {
  Level opened;
  opened.open = token.span;
  opened.inside = Inside::Expression;
  Symbol symbol = 0;
  switch (token.kind) {
    case RawKind::Open:
      opened.closer = RawKind::Close;
      symbol = RADL2_LPAREN;
      if (last_ == RADL2_CALL || value_position()) break;
      symbol = RADL2_BODY;
      opened.inside = body_inside();
      opened.ranges =
          level().ranges || (level().inside == Inside::Blocks &&
                             (level().keyword == RADL2_SYSTEM || level().keyword == RADL2_NETWORK));
      break;
    case RawKind::OpenList:
      opened.closer = RawKind::CloseList;
      symbol = RADL2_LBRACKET;
      break;
    case RawKind::OpenMap:
      opened.closer = RawKind::CloseMap;
      opened.inside = Inside::Map;
      symbol = RADL2_LBRACE;
      break;
    default:
      opened.closer = RawKind::CloseInterpolation;
      symbol = RADL2_INTERPOLATE;
      break;
  }
  ++level().words;
  levels_.push_back(opened);
  if (levels_.size() > static_cast<size_t>(kMaxNesting)) {
    error(DiagCode::NestingTooDeep, token.span,
          "more than " + std::to_string(kMaxNesting) + " parentheses within each other");
    stopped_ = true;
  }
  return symbol;
}

// `f([1, 2)`: what closes an outer bracket closes those inside it, when the value in them is complete.
bool Radl2Tokens::left_open(const Token& token) {
  size_t keep = levels_.size();
  while (keep > 1 && levels_[keep - 1].closer != token.kind) {
    const Level& each = levels_[keep - 1];
    if (each.closer == RawKind::CloseInterpolation) return false;
    if (each.inside != Inside::Expression && each.inside != Inside::Map) return false;
    --keep;
  }
  if (keep < 2 || !value_complete()) return false;
  report_unclosed(true).note(token.span, "closes the enclosing bracket");
  if (stopped_) return false;
  close_levels(keep, last_token_.span.end);
  ahead_.push_front(token);
  return true;
}

Radl2Tokens::Symbol Radl2Tokens::close(Token& token) {
  Symbol symbol = token.kind == RawKind::Close       ? static_cast<Symbol>(RADL2_RPAREN)
                  : token.kind == RawKind::CloseList ? static_cast<Symbol>(RADL2_RBRACKET)
                  : token.kind == RawKind::CloseMap  ? static_cast<Symbol>(RADL2_RBRACE)
                                                     : static_cast<Symbol>(RADL2_INTERPOLATE_END);
  if (levels_.size() == 1 || level().closer != token.kind) {
    if (left_open(token)) return 0;
    if (token.kind != RawKind::Close || levels_.size() > 1)
      return symbol;  // the parser says what it expected
    do {
      error(DiagCode::ExtraParenthesis, token.span, "this `)` closes nothing")
          .fix("remove it", token.span, "");
      if (stopped_) return RADL2_END;
      token = take();
    } while (token.kind == RawKind::Close);
    return symbol_of(token);
  }
  bool body = level().inside != Inside::Expression && level().inside != Inside::Map;
  levels_.pop_back();
  if (body && (level().inside == Inside::Blocks || level().inside == Inside::Resources)) end_entry();
  return symbol;
}

}  // namespace radl
