#include "compiler/syntax/parser.h"
#include "compiler/syntax/scanner.h"
#include "compiler/syntax/version.h"

namespace radl {
namespace {

TokenClass class_of(RawKind kind) {
  switch (kind) {
    case RawKind::Comment:
      return TokenClass::Comment;
    case RawKind::Junk:
      return TokenClass::Junk;
    case RawKind::Name:
      return TokenClass::Name;
    case RawKind::Number:
      return TokenClass::Number;
    case RawKind::Text:
    case RawKind::Random:
    case RawKind::BadRandom:
    case RawKind::TextBegin:
    case RawKind::TextPart:
    case RawKind::TextEnd:
      return TokenClass::String;
    case RawKind::Recipe:
    case RawKind::EmptyRecipe:
    case RawKind::OpenRecipe:
      return TokenClass::Recipe;
    case RawKind::Open:
    case RawKind::Close:
    case RawKind::OpenList:
    case RawKind::CloseList:
    case RawKind::OpenInterpolation:
    case RawKind::CloseInterpolation:
    case RawKind::OpenMap:
    case RawKind::CloseMap:
      return TokenClass::Parenthesis;
    default:
      break;
  }
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
