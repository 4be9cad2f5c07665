#include "compiler/syntax/builder.h"

namespace radl {
namespace {

// Trees are walked recursively; this bounds their depth.
constexpr int kMaxOperators = 2000;

// Up to four letters as one number, capitals as small ones.
constexpr uint32_t packed(std::string_view letters) {
  uint32_t out = 0;
  for (char c : letters) out = out << 8 | static_cast<uint8_t>(c | 0x20);
  return out;
}

}  // namespace

bool is_unit(std::string_view unit) {
  constexpr uint32_t kUnits[] = {packed("b"),   packed("k"),   packed("m"),   packed("g"),   packed("t"),
                                 packed("kb"),  packed("mb"),  packed("gb"),  packed("tb"),  packed("ki"),
                                 packed("mi"),  packed("gi"),  packed("ti"),  packed("kib"), packed("mib"),
                                 packed("gib"), packed("tib"), packed("ecu"), packed("hrz"), packed("s"),
                                 packed("min"), packed("h"),   packed("d"),   packed("ms"),  packed("gceu")};
  if (unit.size() > 4) return false;
  uint32_t wanted = packed(unit);
  for (uint32_t known : kUnits)
    if (known == wanted) return true;
  return false;
}

// Counts the operators of one feature. Beyond the limit an error, and the operator's left side alone.
bool Builder::too_long(Place place) {
  if (++operators_ <= kMaxOperators) return false;
  if (operators_ == kMaxOperators + 1)
    syntax(DiagCode::NestingTooDeep, place,
           "an expression has more than " + std::to_string(kMaxOperators) + " operators");
  return true;
}

ast::Expr* Builder::with_unit(Place place, ast::Number* number, Place unit) {
  number->unit = word(unit);
  if (source_.text(at({number->span.end, unit.begin})).find('\n') != std::string_view::npos ||
      !is_unit(number->unit.text))
    diagnostics_.report(
        DiagCode::OddUnit, at(unit),
        "`" + std::string(number->unit.text) + "` is taken for the unit of " + std::string(number->digits));
  number->span = at(place);
  return number;
}

ast::Expr* Builder::ec3_reference(Place place, Place kind, Place target) {
  auto* made = node<ast::Ec3Reference>(place, word(kind), word(target));
  ec3_use(ast::Ec3Use::What::ReferenceValue, place, made->target_kind);
  tree_.ec3_mark = true;
  return made;
}

ast::Expr* Builder::list_value(Place place, List<ast::Expr*>* items) {
  auto* made = node<ast::ListValue>(place, *items);
  if (radl2()) {
    too_long(place);
    return made;
  }
  for (const ast::Expr* item : made->items)
    if (item->kind != ast::Kind::String && item->kind != ast::Kind::ErrorValue) {
      syntax(DiagCode::UnexpectedToken, item->span, "a list holds strings in quotes");
      break;
    }
  return made;
}

List<ast::Expr*>* Builder::items(List<ast::Expr*>* items, ast::Expr* item) {
  if (!items) items = tree_.arena.make<List<ast::Expr*>>();
  if (item) items->push(tree_.arena, item);
  return items;
}

ast::Expr* Builder::unquoted(Place place) {
  std::string quoted = "'" + std::string(word(place).text) + "'";
  tree_.syntax_errors = true;
  diagnostics_.report(DiagCode::UnquotedText, at(place), "a string needs quotes: " + quoted)
      .fix("write " + quoted, at(place), quoted);
  return error_value(place);
}

ast::Expr* Builder::error_value(Place place) { return node<ast::Expr>(ast::Kind::ErrorValue, place); }

}  // namespace radl
