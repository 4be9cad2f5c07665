// Tokens of RADL 1 to the parser's symbols.
#include <array>

#include "compiler/syntax/parser.h"
#include "compiler/syntax/token_stream.h"

namespace radl {

ast::String* TokenStream::text(const Token& token) {
  bool closed = token.made != Made::Word || source_.text(token.span).ends_with('"');
  return literals_.text(token.span, !closed);
}

ast::Expr* TokenStream::random(const Token& token) { return literals_.random(token.span); }

ast::Recipe* TokenStream::recipe(const Token& token) { return literals_.recipe(token.span); }

namespace {

// Of the tokens without a value: one table from raw kinds to the grammar's.
constexpr auto kTokens = [] {
  std::array<uint8_t, static_cast<size_t>(RawKind::CloseMap) + 1> table{};
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
  };
  for (auto [kind, token] : kPairs) table[static_cast<size_t>(kind)] = static_cast<uint8_t>(token);
  return table;
}();

}  // namespace

int TokenStream::symbol(const Token& token, Value& value) {
  switch (token.made) {
    case Made::Sync:
      return RADL_SYNC;
    case Made::TextEnd:
      return RADL_RADL_GRAMMAR_UNDEF;
    case Made::Kind:
      return RADL_KIND;
    case Made::Member:
      return RADL_MEMBER;
    case Made::Placeholder:
      value.RADL_PLACEHOLDER = tree_.arena.make<ast::Expr>(ast::Kind::ErrorValue, token.span);
      return RADL_PLACEHOLDER;
    default:
      break;
  }
  switch (token.kind) {
    case RawKind::Name:
      return RADL_NAME;
    case RawKind::Number:
      value.RADL_NUMBER = number(token.span);
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
    default:
      return kTokens[static_cast<size_t>(token.kind)];
  }
}

}  // namespace radl
