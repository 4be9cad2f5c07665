// Tokens to the parser's symbols: numbers, texts and recipes become nodes here.
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "compiler/syntax/parser.h"
#include "compiler/syntax/token_stream.h"
#include "compiler/syntax/unicode.h"

namespace radl {

using grammar::Parser;

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

// Warns about @input.NAME@, which stays as it is inside texts and recipes.
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

ast::StringPart TokenStream::text_part(const Token& token) {
  return {decode(source_.text(token.span)), nullptr, token.span};
}

TokenStream::Symbol TokenStream::symbol(const Token& token) {
  Span at = token.span;
  switch (token.made) {
    case Made::Sync:
      return Parser::make_SYNC(at);
    case Made::Kind:
      return Parser::make_KIND({source_.text(at), at}, at);
    case Made::Member:
      return Parser::make_MEMBER({source_.text(at), at}, at);
    case Made::Placeholder: {
      auto* node = tree_.arena.make<ast::Expr>();
      node->kind = ast::Kind::ErrorValue;
      node->span = at;
      return Parser::make_PLACEHOLDER(node, at);
    }
    default:
      break;
  }
  switch (token.kind) {
    case RawKind::Name:
      return Parser::make_NAME({source_.text(at), at}, at);
    case RawKind::Number:
      return Parser::make_NUMBER(number(token), at);
    case RawKind::Text:
    case RawKind::BadRandom:
      return Parser::make_TEXT(text(token), at);
    case RawKind::Random:
      return Parser::make_TEXT(random(token), at);
    case RawKind::Recipe:
    case RawKind::EmptyRecipe:
    case RawKind::OpenRecipe:
      return Parser::make_RECIPE(recipe(token), at);
    case RawKind::TextPart:
      return Parser::make_TEXT_PART(text_part(token), at);
    default:
      break;
  }
  // The rest carries no value: one table from raw kinds to tokens.
  using T = Parser::token;
  static constexpr auto kTokens = [] {
    std::array<int, static_cast<size_t>(RawKind::CloseInterpolation) + 1> table{};
    auto set = [&](RawKind kind, int value) { table[static_cast<size_t>(kind)] = value; };
    set(RawKind::End, T::END), set(RawKind::Network, T::NETWORK), set(RawKind::Ansible, T::ANSIBLE);
    set(RawKind::System, T::SYSTEM), set(RawKind::Soft, T::SOFT), set(RawKind::And, T::AND);
    set(RawKind::Contains, T::CONTAINS), set(RawKind::Deploy, T::DEPLOY),
        set(RawKind::Configure, T::CONFIGURE);
    set(RawKind::Contextualize, T::CONTEXTUALIZE), set(RawKind::Step, T::STEP), set(RawKind::With, T::WITH);
    set(RawKind::Option, T::OPTION), set(RawKind::Description, T::DESCRIPTION), set(RawKind::Open, T::LPAREN);
    set(RawKind::Close, T::RPAREN), set(RawKind::OpenList, T::LBRACKET), set(RawKind::CloseList, T::RBRACKET);
    set(RawKind::Comma, T::COMMA), set(RawKind::Eq, T::EQ), set(RawKind::Lt, T::LT), set(RawKind::Gt, T::GT);
    set(RawKind::Le, T::LE), set(RawKind::Ge, T::GE), set(RawKind::Radl, T::RADL),
        set(RawKind::Input, T::INPUT);
    set(RawKind::Output, T::OUTPUT), set(RawKind::Use, T::USE), set(RawKind::As, T::AS),
        set(RawKind::After, T::AFTER);
    set(RawKind::If, T::IF), set(RawKind::Then, T::THEN), set(RawKind::Else, T::ELSE),
        set(RawKind::Or, T::OR);
    set(RawKind::Not, T::NOT), set(RawKind::EqEq, T::EQEQ), set(RawKind::NotEq, T::NE),
        set(RawKind::Plus, T::PLUS);
    set(RawKind::Minus, T::MINUS), set(RawKind::Star, T::STAR), set(RawKind::Slash, T::SLASH);
    set(RawKind::Percent, T::PERCENT), set(RawKind::TextBegin, T::TEXT_BEGIN),
        set(RawKind::TextEnd, T::TEXT_END);
    set(RawKind::OpenInterpolation, T::INTERPOLATE), set(RawKind::CloseInterpolation, T::INTERPOLATE_END);
    return table;
  }();
  return Symbol(kTokens[static_cast<size_t>(token.kind)], at);
}

}  // namespace radl
