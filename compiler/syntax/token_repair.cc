// Repairs: frequent mistakes for which the intent is plain. Each reports an error of its own and gives the
// parser what was meant, so that nothing follows from it.
#include "common/text.h"
#include "compiler/syntax/token_stream.h"

namespace radl {
namespace {

bool before_value(RawKind kind) {
  return is_comparator(kind) || kind == RawKind::OpenList || kind == RawKind::Comma;
}
bool name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.'; }

}  // namespace

TokenStream::Token TokenStream::repaired() {
  for (;;) {
    Token token = take();
    if (stopped_) return token;  // a repair may go back: too many end here
    bool closed = interpolation_ends(token) || text_ends(token);
    if (!closed && missing_close(token, 0)) {
      put_back(token);
      close_all(token);
      closed = true;
    }
    if (closed) {
      if (out_.empty()) return token;  // stopped
      Token close = out_.front();
      out_.pop_front();
      return close;
    }
    switch (token.kind) {
      case RawKind::And:
        if (version2_ && missing_close_in_value()) {
          put_back(token);
          Token close = out_.front();
          out_.pop_front();
          return close;
        }
        if (dangling_and(token)) continue;
        break;
      case RawKind::System:
        missing_open(token);
        break;
      case RawKind::Number:
        name_with_digit(token);
        break;
      case RawKind::Name:
        if (missing_open(token)) return token;
        if (bare_recipe(token) || unit_of_time(token)) continue;
        [[fallthrough]];
      case RawKind::Soft:
        if (missing_and(token)) {
          out_.push_back(token);
          return {RawKind::And, Made::No, span(token.span.begin, token.span.begin)};
        }
        if (token.kind == RawKind::Name) {
          placeholder(token);
          word_for_count(token);
        }
        break;
      case RawKind::Close:
        if (!levels_.empty()) break;
        error(DiagCode::ExtraParenthesis, token.span, "this `)` closes nothing")
            .fix("remove it", token.span, "");
        if (stopped_) return token;
        continue;
      case RawKind::Eq:
      case RawKind::EqEq:
        reversed_operator(token);
        break;
      case RawKind::Recipe:
      case RawKind::EmptyRecipe:
      case RawKind::OpenRecipe:
        if (missing_open(token)) return token;
        recipe_ends(token);
        break;
      case RawKind::BadRandom:
        error(DiagCode::RandomLength, token.span, "`random` takes one digit, from 0 to 9");
        break;
      default:
        break;
    }
    return token;
  }
}

// A block that no dialect has, shaped like the one whose keyword comes near: `deply front 1`.
bool TokenStream::misspelt_keyword(Token& token) {
  std::string word = to_lower(source_.text(token.span));
  RawKind first = peek().kind, second = peek(1).kind;
  bool recipe =
      second == RawKind::Open && peek(2).kind >= RawKind::Recipe && peek(2).kind <= RawKind::OpenRecipe;
  auto meant = [&](std::string_view keyword, RawKind kind, bool shape) {
    if (!shape || edit_distance(word, keyword, 3) > 2) return false;
    report_unknown_block(source_.text(token.span), token.span, diagnostics_);
    tree_.syntax_errors = true;
    token.kind = kind;
    return true;
  };
  return meant("contextualize", RawKind::Contextualize,
               first == RawKind::Open || (first == RawKind::Number && second == RawKind::Open)) ||
         meant("deploy", RawKind::Deploy, word_like(peek()) && second == RawKind::Number) ||
         meant("configure", RawKind::Configure, word_like(peek()) && recipe);
}

// Between two features with nothing in between: never right, because a name that a comparator follows can
// only be a feature's. `2 memory.size = 1G` would otherwise take memory.size for a unit.
bool TokenStream::missing_and(const Token& token) {
  if (inside() != Inside::Features || last_.made == Made::Sync) return false;
  bool value_ended = false, number = false;
  switch (last_.kind) {
    case RawKind::Text:
    case RawKind::Random:
    case RawKind::BadRandom:
    case RawKind::CloseList:
    case RawKind::TextEnd:
      value_ended = true;
      break;
    case RawKind::Close:
      value_ended = true;
      break;
    case RawKind::Number:
      number = true;
      value_ended = before_last_.kind != RawKind::Soft;
      break;
    case RawKind::Name:
      value_ended = before_last_.kind == RawKind::Number || is_comparator(before_last_.kind) ||
                    before_last_.kind == RawKind::System || last_.made == Made::Member;
      break;
    default:
      break;
  }
  if (!value_ended) return false;
  RawKind after = peek().kind;
  if (token.kind == RawKind::Soft) {
    if (after != RawKind::Number) return false;
  } else if (!is_comparator(after) && after != RawKind::Contains) {
    return false;
  }
  // radl 2 has comparisons: `a = 2 GB <= x`.
  if (version2_ && number && after != RawKind::Eq && !at_line_start(token)) return false;
  std::string_view between = skipped(last_.span.end, token.span.begin);
  std::string unit = last_.kind == RawKind::Name ? to_lower(source_.text(last_.span)) : "";
  bool or_unit = unit == "or" || (unit == "and" && before_last_.kind == RawKind::Number);
  if (or_unit || between == ";" || between == "&" || between == "&&" || between == "|" || between == "||") {
    Span at = last_.span;
    if (!or_unit) {
      at.begin = static_cast<uint32_t>(between.data() - bytes_.data());
      at.end = at.begin + static_cast<uint32_t>(between.size());
    }
    error(DiagCode::MissingAnd, at,
          unit == "and" ? "`and` is written in small letters"
                        : "features are joined by `and`, not by `" + std::string(source_.text(at)) + "`")
        .fix("write `and`", at, or_unit || between[0] != ';' ? "and" : " and");
    return true;
  }
  error(DiagCode::MissingAnd, token.span,
        "`and` is missing before `" + std::string(source_.text(token.span)) + "`")
      .labelled("a new feature begins here")
      .fix("insert `and`", span(last_.span.end, last_.span.end), " and");
  return true;
}

// `and` before `)`, or twice.
bool TokenStream::dangling_and(const Token& token) {
  if (inside() != Inside::Features) return false;
  // Without scanning more than is needed: the next feature may be read whole.
  if (auto raw = scanner_.ahead(); ahead_count_ == 0 && !raw.empty() && raw[0].kind == RawKind::Name)
    return false;
  const Token& after = peek();
  if (after.kind == RawKind::End || missing_close(after, 1)) return true;  // reported with the parenthesis
  if (after.kind != RawKind::Close && after.kind != RawKind::And) return false;
  error(DiagCode::TrailingAnd, token.span,
        after.kind == RawKind::And ? "duplicate `and`" : "`and` with no feature behind it")
      .fix("remove it", token.span, "");
  return true;
}

// A block begins, or the file ends, inside parentheses. `token` stands `ahead` tokens in front of peek(0).
bool TokenStream::missing_close(const Token& token, size_t ahead) {
  if (levels_.empty() || inside() == Inside::Interpolation) return false;
  if (token.kind == RawKind::End) return true;
  RawKind before = ahead == 0 ? last_.kind : RawKind::And;
  if (is_comparator(before) || before == RawKind::Contains) return false;
  bool items = inside() == Inside::Items;
  switch (token.kind) {
    case RawKind::System:
      if (!word_like(peek(ahead))) return false;
      return !items || peek(ahead + 1).kind == RawKind::Open;
    case RawKind::Configure:
      if (!word_like(peek(ahead))) return false;
      return !items || (before != RawKind::Name && peek(ahead + 1).kind == RawKind::Open);
    case RawKind::Deploy:
      return word_like(peek(ahead));
    case RawKind::Contextualize:
      return peek(ahead).kind == RawKind::Open || peek(ahead).kind == RawKind::Number;
    case RawKind::Network:
    case RawKind::Ansible:
    case RawKind::Description:
    case RawKind::Input:
    case RawKind::Output:
      return peek(ahead).kind == RawKind::Name;
    case RawKind::Use:
      return peek(ahead).kind == RawKind::Text;
    default:
      return false;
  }
}

void TokenStream::close_all(const Token& before) {
  Span open = levels_.back().open;
  uint32_t at = last_.span.end;
  if (closes_silently(open, before)) {
    close_levels(0, at);
    scanner_.set_depth(0);
    return;
  }
  Diagnostic& d = error(DiagCode::UnclosedParenthesis, open, "this `(` is never closed");
  if (before.kind != RawKind::End) d.note(before.span, "the next block begins here");
  d.fix("insert `)`", span(last_.span.end, last_.span.end), "\n)");
  close_levels(0, at);
  scanner_.set_depth(0);
}

void TokenStream::reversed_operator(Token& token) {
  bool feature = inside() == Inside::Features && last_.kind == RawKind::Name;
  if (token.kind == RawKind::EqEq) {
    bool begins = before_last_.kind == RawKind::And || before_last_.kind == RawKind::Open;
    if (!feature || !begins) return;
    token.kind = RawKind::Eq;
    error(DiagCode::ReversedOperator, token.span, "a feature takes `=`").fix("write `=`", token.span, "=");
    return;
  }
  RawKind after = peek().kind;
  if ((after != RawKind::Gt && after != RawKind::Lt && after != RawKind::Eq) ||
      peek().span.begin != token.span.end)
    return;
  RawKind meant = after == RawKind::Gt ? RawKind::Ge : after == RawKind::Lt ? RawKind::Le : RawKind::Eq;
  std::string right = after == RawKind::Gt ? ">=" : after == RawKind::Lt ? "<=" : "=";
  token.span = cover(token.span, take().span);
  token.kind = meant;
  error(DiagCode::ReversedOperator, token.span,
        "there is no operator `" + std::string(source_.text(token.span)) + "`: write `" + right + "`")
      .fix("write `" + right + "`", token.span, right);
}

// "text" in double quotes, or 'text whose quote is never closed, where a value is expected. A name there is
// always an error, so the words between the quotes are taken for a string.
bool TokenStream::quoted_text(const RawToken& quote, Token& made) {
  char mark = bytes_[quote.begin];
  if ((mark != '"' && mark != '\'') || !before_value(last_scanned_)) return false;
  uint32_t end = quote.end;
  if (end >= bytes_.size() || !name_start(bytes_[end])) return false;
  uint32_t line_end = static_cast<uint32_t>(std::min(bytes_.find('\n', end), bytes_.size()));
  if (mark == '"') {
    size_t close = bytes_.find('"', end);
    if (close == std::string_view::npos || close > line_end) return false;
    made = {RawKind::Text, Made::Word, span(quote.begin, static_cast<uint32_t>(close) + 1)};
    std::string inner(bytes_.substr(end, close - end));
    std::string fixed = "'";
    for (char c : inner) fixed += c == '\'' ? std::string("\\'") : std::string(1, c);
    error(DiagCode::DoubleQuotes, made.span, "strings take single quotes: " + fixed + "'")
        .fix("use single quotes", made.span, fixed + "'");
  } else {
    std::string_view rest = bytes_.substr(end, line_end - end);
    auto cut = [&](std::string_view tail) {
      while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\t')) rest.remove_suffix(1);
      if (rest.ends_with(tail)) rest.remove_suffix(tail.size());
      while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\t')) rest.remove_suffix(1);
    };
    cut(" and");
    cut(")");
    made = {RawKind::Text, Made::Word, span(quote.begin, end + static_cast<uint32_t>(rest.size()))};
    error(DiagCode::UnclosedText, made.span, "this string is never closed").labelled("no `'` ends it");
  }
  scanner_.seek(made.span.end);
  return true;
}

// @input.NAME@ where only a literal can stand.
void TokenStream::placeholder(Token& token) {
  if (token.span.begin == 0 || token.span.end >= bytes_.size()) return;
  if (bytes_[token.span.begin - 1] != '@' || bytes_[token.span.end] != '@') return;
  std::string_view name = source_.text(token.span);
  if (!name.starts_with("input.")) return;
  bool literal = is_comparator(last_.kind) || last_.kind == RawKind::Contextualize ||
                 last_.kind == RawKind::Step || last_.kind == RawKind::Soft ||
                 before_last_.kind == RawKind::Deploy;
  if (!literal) return;
  token.made = Made::Placeholder;
  Span whole = span(token.span.begin - 1, token.span.end + 1);
  error(DiagCode::UnreplacedInput, whole, "no value was given for " + std::string(name))
      .with_help("give it with `--input " + std::string(name.substr(6)) + "=value`");
}

void TokenStream::recipe_ends(Token& token) {
  if (token.kind == RawKind::EmptyRecipe) {
    token.kind = RawKind::Recipe;
    error(DiagCode::EmptyRecipe, token.span, "a recipe has at least the line of its `@begin`")
        .with_help("write `()` for a configure without recipe");
  }
  if (token.kind != RawKind::OpenRecipe) return;
  token.kind = RawKind::Recipe;
  std::string_view body = source_.text(token.span);
  // The first line that is an indented @end was meant to end it.
  size_t found = std::string_view::npos;
  for (size_t at = body.find("@end"); at != std::string_view::npos; at = body.find("@end", at + 4)) {
    size_t line = body.rfind('\n', at);
    if (line == std::string_view::npos ||
        body.substr(line + 1, at - line - 1).find_first_not_of(" \t") != body.npos)
      continue;
    found = at;
    break;
  }
  Span begin = span(token.span.begin, token.span.begin + 6);
  Diagnostic& d = error(DiagCode::UnclosedRecipe, begin, "this recipe never ends");
  if (found == std::string_view::npos) {
    token.span.end = recipe_was_to_end(token.span);
    d.with_help("a recipe ends with `@end` at the start of a line")
        .fix("insert `@end`", span(token.span.end, token.span.end), "@end\n");
    rewind(token.span.end);
    return;
  }
  size_t line = body.rfind('\n', found);
  Span indented = span(token.span.begin + static_cast<uint32_t>(found),
                       token.span.begin + static_cast<uint32_t>(found) + 4);
  d.note(indented, "`@end` must stand at the start of its line")
      .fix("move `@end` to the start of the line",
           span(token.span.begin + static_cast<uint32_t>(line) + 1, indented.begin), "");
  token.span.end = indented.end;
  rewind(indented.end);
}

// What closes the levels above the first `keep`, innermost first.
void TokenStream::close_levels(size_t keep, uint32_t at) {
  Span here = span(at, at);
  for (size_t i = levels_.size(); i > keep; --i) {
    bool text = levels_[i - 1].inside == Inside::Interpolation;
    out_.push_back({text ? RawKind::CloseInterpolation : RawKind::Close, Made::No, here});
    if (text) out_.push_back({RawKind::TextEnd, Made::No, here});
  }
}

// `${` must end on its line.
bool TokenStream::interpolation_ends(const Token& token) {
  if (!version2_) return false;
  size_t level = innermost_interpolation();
  if (level == 0) return false;
  uint32_t begin = levels_[level - 1].open.end;
  if (token.kind != RawKind::End && token.span.end <= std::min(bytes_.find('\n', begin), bytes_.size()))
    return false;
  unclosed_interpolation(level);
  return true;
}

// One more than the place of the innermost `${` in levels_; 0 when there is none.
size_t TokenStream::innermost_interpolation() const {
  size_t level = levels_.size();
  while (level > 0 && levels_[level - 1].inside != Inside::Interpolation) --level;
  return level;
}

// The text is taken to end at the next quote, or with the line.
void TokenStream::unclosed_interpolation(size_t level) {
  Span open = levels_[level - 1].open;
  uint32_t line_end = static_cast<uint32_t>(std::min(bytes_.find('\n', open.end), bytes_.size()));
  error(DiagCode::UnclosedInterpolation, open, "this `${` is never closed")
      .with_help("end it with `}` on the same line");
  size_t quote = bytes_.find('\'', open.end);
  uint32_t end = quote < line_end ? static_cast<uint32_t>(quote) + 1 : line_end;
  close_levels(level - 1, end);
  std::vector<Level> open_levels = levels_;
  levels_.resize(level - 1);
  rewind(end);
  levels_ = open_levels;
  // What was skipped inside it says nothing of its own.
  while (!tree_.trivia.empty() && tree_.trivia.back().span.begin >= open.end) tree_.trivia.pop();
}

// The file ends in a string with ${ }: the text is taken to end with its line.
bool TokenStream::text_ends(const Token& token) {
  if (token.kind != RawKind::End || texts_.empty()) return false;
  Span open = texts_.back();
  error(DiagCode::UnclosedText, open, "this string is never closed");
  uint32_t line_end = static_cast<uint32_t>(std::min(bytes_.find('\n', open.end), bytes_.size()));
  rewind(std::max(line_end, last_.span.begin));
  out_.push_back({RawKind::TextEnd, Made::No, span(line_end, line_end)});
  return true;
}

}  // namespace radl
