#include "compiler/syntax/parser.h"
#include "compiler/syntax/scanner.h"
#include "compiler/syntax/token_source.h"
#include "compiler/syntax/version.h"

namespace radl {
namespace {

TokenClass class_of(RawKind kind) {
  using enum RawKind;
  if (kind == Comment) return TokenClass::Comment;
  if (kind == Junk) return TokenClass::Junk;
  if (kind == Name) return TokenClass::Name;
  if (kind == Number) return TokenClass::Number;
  if (is_among(kind, {Text, Random, BadRandom, TextBegin, TextPart, TextEnd})) return TokenClass::String;
  if (is_among(kind, {Recipe, EmptyRecipe, OpenRecipe})) return TokenClass::Recipe;
  if (is_among(kind,
               {Open, Close, OpenList, CloseList, OpenInterpolation, CloseInterpolation, OpenMap, CloseMap}))
    return TokenClass::Parenthesis;
  return is_word_token(kind) ? TokenClass::Keyword : TokenClass::Operator;
}

}  // namespace

std::vector<Token> tokenize(const SourceFile& source) {
  std::vector<Token> tokens;
  Scanner scanner(source.text(), begins_with_version(source.text()));
  for (RawToken raw = scanner.next(); raw.kind != RawKind::End; raw = scanner.next()) {
    TokenClass cls = class_of(raw.kind);
    bool joins = !tokens.empty() && tokens.back().span.end == raw.begin && tokens.back().cls == cls &&
                 (cls == TokenClass::Junk || cls == TokenClass::String);
    if (joins)
      tokens.back().span.end = raw.end;
    else
      tokens.push_back({cls, {source.id(), raw.begin, raw.end}});
  }
  return tokens;
}

}  // namespace radl
