// Semantic tokens: what a word means here, where a grammar of regular expressions can only guess.
#include <algorithm>
#include <array>

#include "compiler/syntax/parser.h"
#include "tools/lsp/answers.h"

namespace radl::lsp {
namespace {

enum Type : uint32_t {
  Keyword,
  Class,
  Interface,
  Function,
  Variable,
  Property,
  Namespace,
  Number,
  String,
  Operator,
  Comment,
  Parameter
};
constexpr std::array<const char*, 12> kTypes = {"keyword",  "class",    "interface", "function",
                                                "variable", "property", "namespace", "number",
                                                "string",   "operator", "comment",   "parameter"};
constexpr uint32_t kDeclaration = 1;

Type type_of(Space space) {
  // In the order of Space.
  static constexpr Type types[] = {Interface, Class,     Namespace, Function, Variable, Property,
                                   Namespace, Parameter, Property,  Variable, Variable, Variable};
  static_assert(std::size(types) == static_cast<size_t>(Space::Other) + 1);
  return types[static_cast<size_t>(space)];
}

struct Piece {
  Span span;
  Type type;
  uint32_t modifiers = 0;
};

// Names that the symbol index knows go first; the token stream gives the rest.
std::vector<Piece> pieces_of(const Analysis& analysis) {
  std::vector<Piece> pieces;
  for (const Occurrence& item : analysis.symbols.occurrences) {
    if (item.in_recipe) continue;  // the recipe is YAML: its own grammar colours it
    pieces.push_back({item.span, type_of(item.space), item.definition ? kDeclaration : 0});
  }
  size_t known = pieces.size(), next = 0;
  for (const Token& token : tokenize(analysis.source)) {
    while (next < known && pieces[next].span.end <= token.span.begin) ++next;
    bool taken = next < known && pieces[next].span.begin < token.span.end;
    if (taken && token.cls == TokenClass::Name) continue;
    switch (token.cls) {
      case TokenClass::Keyword:
        pieces.push_back({token.span, Keyword});
        break;
      case TokenClass::Name:
        pieces.push_back({token.span, Property});
        break;
      case TokenClass::Number:
        pieces.push_back({token.span, Number});
        break;
      case TokenClass::Operator:
        pieces.push_back({token.span, Operator});
        break;
      case TokenClass::Comment:
        pieces.push_back({token.span, Comment});
        break;
      default:
        break;  // strings with the names in them, parentheses and recipes: left to the grammar
    }
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.span.begin < b.span.begin; });
  return pieces;
}

}  // namespace

Json semantic_legend() { return {{"tokenTypes", kTypes}, {"tokenModifiers", {"declaration"}}}; }

Json semantic_tokens(const Query& query, const Json* range) {
  const Analysis& analysis = *query.analysis;
  uint32_t from = 0, to = UINT32_MAX;
  if (range) {
    Range wanted = range_from(*range);
    from = analysis.offset(wanted.start, query.workspace.encoding);
    to = analysis.offset(wanted.end, query.workspace.encoding);
  }
  Json data = Json::array();
  Position last;
  uint32_t end = 0;
  for (const Piece& piece : pieces_of(analysis)) {
    if (piece.span.end <= from || piece.span.begin >= to || piece.span.begin < end) continue;
    Range place = analysis.range(piece.span, query.workspace.encoding);
    if (place.start.line != place.end.line || place.start == place.end) continue;  // clients expect one line
    data.push_back(place.start.line - last.line);
    data.push_back(place.start.line == last.line ? place.start.character - last.character
                                                 : place.start.character);
    data.push_back(place.end.character - place.start.character);
    data.push_back(piece.type);
    data.push_back(piece.modifiers);
    last = place.start;
    end = piece.span.end;
  }
  return {{"data", std::move(data)}};
}

}  // namespace radl::lsp
