// Tokens to the parser's symbols: numbers, strings and recipes become nodes here.
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "compiler/syntax/parser.h"
#include "compiler/syntax/token_stream.h"
#include "compiler/syntax/unicode.h"

namespace radl {

ast::Number* TokenStream::number(const Token& token) {
  auto* node = tree_.arena.make<ast::Number>();
  node->kind = ast::Kind::Number;
  node->span = token.span;
  node->digits = ascii_digits(source_.text(token.span));
  node->is_float = node->digits.find('.') != std::string_view::npos;
  if (node->digits.size() > kMaxNumberDigits) {
    error(DiagCode::NumberTooLong, token.span,
          "a number has at most " + std::to_string(kMaxNumberDigits) + " digits");
    return node;
  }
  const char *begin = node->digits.data(), *end = begin + node->digits.size();
  if (!node->is_float) node->big = std::from_chars(begin, end, node->integer).ec != std::errc();
  if (node->is_float || node->big)
    std::from_chars(begin, end, node->real);
  else
    node->real = static_cast<double>(node->integer);
  return node;
}

// Digits of other scripts count as 0 to 9, as in the reference.
std::string_view TokenStream::ascii_digits(std::string_view text) {
  auto high = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
  if (std::none_of(text.begin(), text.end(), high)) return text;
  std::string out;
  while (!text.empty()) {
    CodePoint next = decode_utf8(text);
    out += next.value == '.' ? '.' : static_cast<char>('0' + digit_value(next.value));
    text.remove_prefix(next.length);
  }
  return tree_.arena.copy(out);
}

// \' becomes ', in radl 2 $${ becomes ${; everything else stays as written. Copies only when there is
// something.
std::string_view TokenStream::decode(std::string_view text) {
  bool quotes = text.find('\\') != std::string_view::npos;
  bool dollars = version2_ && text.find("$${") != std::string_view::npos;
  if (!quotes && !dollars) return text;
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      if (text[i + 1] != '\'') out += '\\';
      out += text[++i];
    } else if (dollars && text.substr(i).starts_with("$${")) {
      out += "${";
      i += 2;
    } else {
      out += text[i];
    }
  }
  return tree_.arena.copy(out);
}

// Warns about @input.NAME@, which stays as it is inside strings and recipes.
void TokenStream::unfilled_input(std::string_view text, uint32_t offset) {
  constexpr std::string_view kMark = "@input.";
  size_t at = text.find(kMark);
  if (at == std::string_view::npos) return;
  size_t end = text.find_first_of("@\n", at + kMark.size());
  if (end == std::string_view::npos || text[end] != '@') return;
  std::string name(text.substr(at + 1, end - at - 1));
  uint32_t begin = offset + static_cast<uint32_t>(at);
  diagnostics_
      .report(DiagCode::InputInText, span(begin, offset + static_cast<uint32_t>(end) + 1),
              "no value was given for " + name)
      .with_help("give it with `--input " + name.substr(6) + "=value`");
}

ast::String* TokenStream::text(const Token& token) {
  auto* node = tree_.arena.make<ast::String>();
  node->kind = ast::Kind::String;
  node->span = token.span;
  std::string_view inner = source_.text(token.span).substr(1);
  if (token.made != Made::Word || inner.ends_with('"')) inner.remove_suffix(1);
  node->text = decode(inner);
  unfilled_input(inner, token.span.begin + 1);
  return node;
}

ast::Expr* TokenStream::random(const Token& token) {
  auto* node = tree_.arena.make<ast::Random>();
  node->kind = ast::Kind::Random;
  node->span = token.span;
  node->length = source_.text(token.span)[8] - '0';  // 'random(D)'
  return node;
}

ast::Recipe* TokenStream::recipe(const Token& token) {
  auto* node = tree_.arena.make<ast::Recipe>();
  node->kind = ast::Kind::Recipe;
  node->span = token.span;
  std::string_view body = source_.text(token.span).substr(6);
  if (body.ends_with("@end")) body.remove_suffix(4);
  node->text = body;
  if (!version2_) unfilled_input(body, token.span.begin + 6);
  for (std::string_view key : {"ec3_xpath", "ec3_jpath", "ec3_file"})
    if (body.find(key) != std::string_view::npos) tree_.ec3_mark = true;
  return node;
}

ast::StringPart* TokenStream::text_part(const Token& token) {
  return tree_.arena.make<ast::StringPart>(decode(source_.text(token.span)), nullptr, token.span);
}

namespace {

// Of the tokens without a value: one table from raw kinds to the grammar's.
constexpr auto kTokens = [] {
  std::array<uint8_t, static_cast<size_t>(RawKind::CloseInterpolation) + 1> table{};
  constexpr std::pair<RawKind, radl_grammar_tokentype> kPairs[] = {
      {RawKind::End, RADL_END},
      {RawKind::Network, RADL_NETWORK},
      {RawKind::Ansible, RADL_ANSIBLE},
      {RawKind::System, RADL_SYSTEM},
      {RawKind::Soft, RADL_SOFT},
      {RawKind::And, RADL_AND},
      {RawKind::Contains, RADL_CONTAINS},
      {RawKind::Deploy, RADL_DEPLOY},
      {RawKind::Configure, RADL_CONFIGURE},
      {RawKind::Contextualize, RADL_CONTEXTUALIZE},
      {RawKind::Step, RADL_STEP},
      {RawKind::With, RADL_WITH},
      {RawKind::Option, RADL_OPTION},
      {RawKind::Description, RADL_DESCRIPTION},
      {RawKind::Open, RADL_LPAREN},
      {RawKind::Close, RADL_RPAREN},
      {RawKind::OpenList, RADL_LBRACKET},
      {RawKind::CloseList, RADL_RBRACKET},
      {RawKind::Comma, RADL_COMMA},
      {RawKind::Eq, RADL_EQ},
      {RawKind::Lt, RADL_LT},
      {RawKind::Gt, RADL_GT},
      {RawKind::Le, RADL_LE},
      {RawKind::Ge, RADL_GE},
      {RawKind::Radl, RADL_RADL},
      {RawKind::Input, RADL_INPUT},
      {RawKind::Output, RADL_OUTPUT},
      {RawKind::Use, RADL_USE},
      {RawKind::As, RADL_AS},
      {RawKind::After, RADL_AFTER},
      {RawKind::If, RADL_IF},
      {RawKind::Then, RADL_THEN},
      {RawKind::Else, RADL_ELSE},
      {RawKind::Or, RADL_OR},
      {RawKind::Not, RADL_NOT},
      {RawKind::EqEq, RADL_EQEQ},
      {RawKind::NotEq, RADL_NE},
      {RawKind::Plus, RADL_PLUS},
      {RawKind::Minus, RADL_MINUS},
      {RawKind::Star, RADL_STAR},
      {RawKind::Slash, RADL_SLASH},
      {RawKind::Percent, RADL_PERCENT},
      {RawKind::TextBegin, RADL_TEXT_BEGIN},
      {RawKind::TextEnd, RADL_TEXT_END},
      {RawKind::OpenInterpolation, RADL_INTERPOLATE},
      {RawKind::CloseInterpolation, RADL_INTERPOLATE_END},
  };
  for (auto [kind, token] : kPairs) table[static_cast<size_t>(kind)] = static_cast<uint8_t>(token);
  return table;
}();

}  // namespace

int TokenStream::symbol(const Token& token, Value& value) {
  switch (token.made) {
    case Made::Sync:
      return RADL_SYNC;
    case Made::Kind:
      return RADL_KIND;
    case Made::Member:
      return RADL_MEMBER;
    case Made::Placeholder:
      value.RADL_PLACEHOLDER = tree_.arena.make<ast::Expr>();
      value.RADL_PLACEHOLDER->kind = ast::Kind::ErrorValue;
      value.RADL_PLACEHOLDER->span = token.span;
      return RADL_PLACEHOLDER;
    default:
      break;
  }
  switch (token.kind) {
    case RawKind::Name:
      return RADL_NAME;
    case RawKind::Number:
      value.RADL_NUMBER = number(token);
      return RADL_NUMBER;
    case RawKind::Text:
    case RawKind::BadRandom:
      value.RADL_TEXT = text(token);
      return RADL_TEXT;
    case RawKind::Random:
      value.RADL_TEXT = random(token);
      return RADL_TEXT;
    case RawKind::Recipe:
    case RawKind::EmptyRecipe:
    case RawKind::OpenRecipe:
      value.RADL_RECIPE = recipe(token);
      return RADL_RECIPE;
    case RawKind::TextPart:
      value.RADL_TEXT_PART = text_part(token);
      return RADL_TEXT_PART;
    default:
      return kTokens[static_cast<size_t>(token.kind)];
  }
}

}  // namespace radl
