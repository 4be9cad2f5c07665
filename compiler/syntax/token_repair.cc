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
    if (end_ != nullptr && token.kind == RawKind::End) token.made = Made::TextEnd;
    if (stopped_ || token.made == Made::TextEnd) return token;  // a repair may go back: too many end here
    if (missing_close(token, 0, last_.kind)) {
      put_back(token);
      close_all(token);
      if (stopped_) return token;
      Token close = out_.front();
      out_.pop_front();
      return close;
    }
    switch (token.kind) {
      case RawKind::And:
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
  bool value_ended = false;
  switch (last_.kind) {
    case RawKind::Text:
    case RawKind::Random:
    case RawKind::BadRandom:
    case RawKind::CloseList:
      value_ended = true;
      break;
    case RawKind::Close:
      value_ended = true;
      break;
    case RawKind::Number:
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
  const Token& after = peek();
  if (after.kind == RawKind::End && end_ != nullptr) return false;
  if (after.kind == RawKind::End || missing_close(after, 1, token.kind))
    return true;  // reported with the parenthesis
  if (after.kind != RawKind::Close && after.kind != RawKind::And) return false;
  error(DiagCode::TrailingAnd, token.span,
        after.kind == RawKind::And ? "duplicate `and`" : "`and` without a feature after it")
      .fix("remove it", token.span, "");
  return true;
}

// A block begins, or the file ends, inside parentheses. `token` comes after `before`, and peek(ahead) after
// it.
bool TokenStream::missing_close(const Token& token, size_t ahead, RawKind before) {
  if (levels_.empty()) return false;
  if (token.kind == RawKind::End) return true;
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
      return peek(ahead).kind == RawKind::Name;
    default:
      return false;
  }
}

void TokenStream::close_all(const Token& before) {
  Span open = levels_.back().open, here = span(last_.span.end, last_.span.end);
  if (!closes_silently(open, before)) {
    Diagnostic& d = error(DiagCode::UnclosedParenthesis, open, "this `(` is never closed");
    if (before.kind != RawKind::End) d.note(before.span, "the next block begins here");
    d.fix("insert `)`", here, "\n)");
  }
  out_.insert(out_.end(), levels_.size(), {RawKind::Close, Made::No, here});
  scanner_.set_depth(0);
}

void TokenStream::reversed_operator(Token& token) {
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
      .with_help(how_to_give_input(name.substr(6)));
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

}  // namespace radl
