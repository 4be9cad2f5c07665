// Mistakes caused by habits from other languages: braces, commas, `//`, `AND`, an apostrophe in a
// string. Each gets its own message, and parsing resumes after it. This code runs only after an
// error.
#include <algorithm>

#include "common/text.h"
#include "compiler/syntax/token_stream.h"

namespace radl {
namespace {

// What an operator of other languages, which the scanner skipped, stands for here.
std::string_view operator_meant(std::string_view junk) {
  if (junk == "\u2265") return ">=";
  if (junk == "\u2264") return "<=";
  return junk == ":" || junk == "->" || junk == "=>" ? "=" : "";
}

}  // namespace

// The text between two places, without spaces and comments.
std::string_view TokenStream::skipped(uint32_t begin, uint32_t end) const {
  std::string_view between = trim(bytes_.substr(begin, end - begin));
  return between.find('#') == between.npos ? between : std::string_view();
}

// ---- repairs
// -------------------------------------------------------------------------------------------------

// `network n outbound = 'yes'`, `system s { cpu.count = 1 }`, `contextualize system a configure b`: the
// parenthesis is missing. Outside of parentheses a name before a comparator is always an error, and so is an
// item.
bool TokenStream::missing_open(Token& token) {
  if (!levels_.empty()) return false;
  bool shape = false;
  switch (block_) {
    case RawKind::Network:
    case RawKind::System:
    case RawKind::Ansible:
    case RawKind::Description: {
      size_t behind = bytes_.find_first_not_of(" \t", token.span.end);
      shape = block_tokens_ == 2 && token.kind == RawKind::Name && behind != bytes_.npos &&
              (bytes_[behind] == '=' || bytes_[behind] == '<' || bytes_[behind] == '>');
      break;
    }
    case RawKind::Configure:
      shape = block_tokens_ == 2 && (token.kind == RawKind::Recipe || token.kind == RawKind::OpenRecipe);
      break;
    case RawKind::Contextualize:
      shape = block_tokens_ <= 2 && (last_.kind == RawKind::Contextualize || last_.kind == RawKind::Number) &&
              token.kind == RawKind::System && word_like(peek()) && peek(1).kind == RawKind::Configure;
      break;
    default:
      break;
  }
  if (!shape) return false;
  std::string_view between = skipped(last_.span.end, token.span.begin);
  size_t brace = bytes_.substr(0, token.span.begin).rfind('{');
  bool braces = between.ends_with('{');
  Span at = braces ? span(static_cast<uint32_t>(brace), static_cast<uint32_t>(brace) + 1)
                   : span(token.span.begin, token.span.begin);
  if (braces)
    error(DiagCode::MissingOpen, at, "a block takes parentheses, not braces").fix("write `(`", at, "(");
  else
    error(DiagCode::MissingOpen, span(last_.span.begin, last_.span.end), "`(` is missing behind this")
        .fix("insert `(`", span(last_.span.end, last_.span.end), " (");
  braces_ |= braces;
  rewind(token.span.begin);
  scanner_.seek(token.span.begin, 1);
  token = {RawKind::Open, Made::No, at};
  return true;
}

// A parenthesis that missing_open made up, or read a brace as, is closed without a word.
bool TokenStream::closes_silently(Span open, const Token& before) {
  if (open.size() == 0) return true;
  if (bytes_[open.begin] != '{') return false;
  std::string_view between = skipped(last_.span.end, before.span.begin);
  while (between.starts_with(';')) between = trim(between.substr(1));
  return between.starts_with('}');
}

// `configure c ( - tasks: ... )` without `@begin`, or with `@BEGIN`: what follows is a recipe, not RADL.
bool TokenStream::bare_recipe(const Token& token) {
  if (last_.kind != RawKind::Open || inside() != Inside::Resources) return false;
  std::string_view between = skipped(last_.span.end, token.span.begin);
  char next = token.span.end < bytes_.size() ? bytes_[token.span.end] : '\0';
  if (between.empty() && next != ':' && next != '\n') return false;  // a resource: it has its own message
  const uint32_t end = TokenSource::bare_recipe(last_.span.end, token.span, between == "@");
  if (end == 0) return false;  // behind the recipe, which has been skipped
  rewind(end);
  return true;
}

// Where a recipe without `@end` was meant to end: at a line that is `)`, or before the next block.
uint32_t TokenStream::recipe_was_to_end(Span recipe) const {
  std::string_view text = bytes_.substr(0, recipe.end);
  size_t end = line_of(text, recipe.begin, ")", false);
  for (std::string_view word : {"configure ", "system ", "network ", "contextualize", "deploy "})
    for (size_t at = text.find(word, recipe.begin); at < end; at = text.find(word, at + 1))
      if (bytes_[at - 1] == '\n') end = at;
  return static_cast<uint32_t>(std::min<size_t>(end, recipe.end));
}

// ---- messages
// ------------------------------------------------------------------------------------------------

// Reading goes on at `offset`. With `join`, the parser is given an `and` if a feature begins there.
void TokenStream::resume(uint32_t offset, bool join) {
  rewind(offset);
  if (stopped_) return;
  RawKind next = peek().kind;
  bool feature = inside() == Inside::Features && (next == RawKind::Soft || next == RawKind::Name);
  if (join && feature) {
    Span at = span(offset, offset);
    out_.push_back({RawKind::And, Made::No, at});
  } else {
    skip_to_sync();
  }
  queue_sync(here(offset));
}

// `,` where features are joined, and in numbers.
bool TokenStream::comma_mistake(const Token& found) {
  if (found.kind != RawKind::Comma || inside() != Inside::Features) return false;
  uint32_t behind = found.span.end;
  auto digit = [&](uint32_t at) { return at < bytes_.size() && bytes_[at] >= '0' && bytes_[at] <= '9'; };
  if (before_last_.kind == RawKind::Number && before_last_.span.end == found.span.begin && digit(behind)) {
    uint32_t end = behind;
    while (digit(end)) ++end;
    Span number = span(before_last_.span.begin, end);
    std::string right =
        std::string(source_.text(before_last_.span)) + "." + std::string(bytes_.substr(behind, end - behind));
    error(DiagCode::UnexpectedToken, number, "fractions are written with a point: " + right)
        .fix("write " + right, number, right);
    resume(end, false);
    return true;
  }
  if (peek().kind == RawKind::Close)
    error(DiagCode::TrailingAnd, found.span, "`,` without a feature after it")
        .fix("remove it", found.span, "");
  else
    error(DiagCode::MissingAnd, found.span, "features are joined by `and`, not by `,`")
        .fix("write `and`", found.span, " and");
  resume(behind, true);
  return true;
}

// ['a', 'b' and cpu.count = 2
bool TokenStream::open_list_mistake(const Token& found) {
  if (inside() != Inside::Features || (found.kind != RawKind::And && found.kind != RawKind::Close))
    return false;
  size_t open = bytes_.substr(0, found.span.begin).rfind('[');
  if (open == bytes_.npos || open < levels_.back().open.begin) return false;
  uint32_t begin = static_cast<uint32_t>(open);
  uint32_t end = begin + static_cast<uint32_t>(trim(bytes_.substr(begin, found.span.begin - begin)).size());
  error(DiagCode::UnexpectedToken, span(begin, end), "this list is never closed")
      .fix("insert `]`", here(end), "]");
  resume(found.span.begin, false);
  return true;
}

// ['a' 'b'] and ['a', ]
bool TokenStream::list_mistake(const Token& found, const Names& expected) {
  bool list = has(expected, "]");
  bool value = found.kind == RawKind::Text || found.kind == RawKind::Number;
  if (list && value) {
    error(DiagCode::UnexpectedToken, found.span, "`,` is missing before this element")
        .fix("insert `,`", span(before_last_.span.end, before_last_.span.end), ",");
  } else if (found.kind == RawKind::CloseList && before_last_.kind == RawKind::Comma) {
    error(DiagCode::UnexpectedToken, before_last_.span, "`,` with no element behind it")
        .fix("remove it", before_last_.span, "");
  } else {
    return list && open_list_mistake(found);
  }
  resume(found.span.end, false);
  return true;
}

// outbound = 'yes and outports = '22': the text runs over the next feature, up to that one's quote.
bool TokenStream::text_over_feature(const Token& found) {
  Span text = before_last_.span;
  if (inside() != Inside::Features || before_last_.kind != RawKind::Text || text.end != found.span.begin)
    return false;
  std::string_view inner = source_.text(text);
  size_t word = inner.find(" and ");
  std::string_view behind = trim(inner.substr(0, inner.size() - 1));
  bool runs_over =
      word != inner.npos && (behind.ends_with('=') || behind.ends_with('<') || behind.ends_with('>'));
  if (!runs_over || inner.find('\n') != inner.npos) return false;
  uint32_t end = text.begin + static_cast<uint32_t>(word);
  error(DiagCode::UnclosedText, span(text.begin, end), "this string is never closed")
      .note(span(text.end - 1, text.end), "without its quote it would run to here")
      .fix("insert `'`", span(end, end), "'");
  resume(end, false);
  return true;
}

// 'It's here', ''linux'', linux': quotes that are one too many or too few on their line.
bool TokenStream::quote_mistake(const Token& found) {
  uint32_t at = found.span.begin;
  if (before_last_.span.end != at || before_last_.span.size() == 0) return false;
  if (text_over_feature(found)) return true;
  uint32_t line_end = static_cast<uint32_t>(std::min(bytes_.find('\n', at), bytes_.size()));
  if (before_last_.kind == RawKind::Name && found.kind == RawKind::Text) {
    Span word = before_last_.span;
    const auto& reported = diagnostics_.all();
    if (reported.empty() || reported.back().code != DiagCode::UnquotedText || reported.back().span != word)
      error(DiagCode::UnquotedText, word, "this string has no quote in front")
          .fix("insert `'`", span(word.begin, word.begin), "'");
    resume(at + 1, false);
    return true;
  }
  if (before_last_.kind != RawKind::Text || found.kind != RawKind::Name) return false;
  Span text = before_last_.span;
  if (source_.text(text).find('\n') != std::string_view::npos) return false;
  if (text.size() == 2) {
    size_t close = bytes_.find("''", at);
    if (close >= line_end) return false;
    Span whole = span(text.begin, static_cast<uint32_t>(close) + 2);
    std::string right(bytes_.substr(text.begin + 1, close - text.begin));
    error(DiagCode::DoubleQuotes, whole, "a string has one quote at each end: " + right)
        .fix("write " + right, whole, right);
    resume(whole.end, false);
    return true;
  }
  // The last quote of the line that can end a string.
  size_t close = bytes_.npos;
  for (size_t quote = bytes_.find('\'', at); quote < line_end; quote = bytes_.find('\'', quote + 1)) {
    std::string_view rest = trim(bytes_.substr(quote + 1, line_end - quote - 1));
    if (rest.empty() || rest.starts_with("and") || rest.starts_with(")") || rest.starts_with("#"))
      close = quote;
  }
  if (close == bytes_.npos) return false;
  Span whole = span(text.begin, static_cast<uint32_t>(close) + 1);
  error(DiagCode::UnclosedText, whole, "a quote inside of a string is written `\\'`")
      .fix("write `\\'`", span(at - 1, at), "\\'");
  resume(whole.end, false);
  return true;
}

// `cpu.count : 2` and the like: the scanner skipped what was meant as a comparator.
bool TokenStream::operator_mistake(const Token& found) {
  if (inside() != Inside::Features || before_last_.kind != RawKind::Name || is_comparator(found.kind))
    return false;
  std::string_view junk = skipped(before_last_.span.end, found.span.begin);
  if (junk.empty() || junk.size() > 4) return false;
  uint32_t begin = static_cast<uint32_t>(junk.data() - bytes_.data());
  Span at = span(begin, begin + static_cast<uint32_t>(junk.size()));
  std::string_view meant = operator_meant(junk);
  Diagnostic& d = error(DiagCode::ReversedOperator, at, "there is no operator " + in_ticks(junk));
  if (!meant.empty())
    d.labelled("write " + in_ticks(meant)).fix("write " + in_ticks(meant), at, std::string(meant));
  resume(found.span.end, false);
  return true;
}

// A comment of another language on the line of this token, before it.
Span TokenStream::foreign_comment(Span token) const {
  size_t newline = bytes_.substr(0, token.begin).rfind('\n');
  uint32_t line = newline == bytes_.npos ? 0 : static_cast<uint32_t>(newline) + 1;
  Span found;
  for (size_t i = tree_.trivia.size(); i > 0; --i) {
    const ast::Trivia& piece = tree_.trivia[i - 1];
    if (piece.span.begin < line) break;
    bool comment = piece.kind == ast::TriviaKind::Junk && foreign_comment_mark(source_.text(piece.span));
    if (comment && piece.span.begin < token.begin) found = piece.span;
  }
  return found;
}

bool TokenStream::comment_mistake(const Token& found) {
  Span mark = foreign_comment(found.span);
  if (!mark.known()) mark = foreign_comment(before_last_.span);
  if (!mark.known()) return false;
  Diagnostic& d = error(DiagCode::UnexpectedToken, mark, "comments begin with `#`");
  bool long_one = source_.text(mark).starts_with("/*");
  if (!long_one) d.fix("write `#`", mark, "#");
  size_t end = bytes_.find(long_one ? "*/" : "\n", mark.end);
  if (end == bytes_.npos) end = bytes_.size();
  general_ = {};  // a word of the comment
  resume(static_cast<uint32_t>(end + (long_one && end < bytes_.size() ? 2 : 0)), true);
  return true;
}

bool TokenStream::known_mistake(const Token& found, const Names& expected) {
  return comma_mistake(found) || list_mistake(found, expected) || comment_mistake(found) ||
         quote_mistake(found) || operator_mistake(found) || reserved_mistake(found) ||
         keyword_mistake(found, expected);
}

}  // namespace radl
