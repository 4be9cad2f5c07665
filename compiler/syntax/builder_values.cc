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
  auto* made = node<ast::Ec3Reference>(ast::Kind::Ec3Reference, place);
  made->target_kind = word(kind);
  made->target = word(target);
  ec3_use(ast::Ec3Use::What::ReferenceValue, place, made->target_kind);
  tree_.ec3_mark = true;
  return made;
}

ast::Expr* Builder::unary(Place place, ast::UnaryOp op, ast::Expr* operand) {
  if (!needs_radl2(place, "an expression")) return error_value(place);
  if (too_long(place)) return operand;
  auto* made = node<ast::Unary>(ast::Kind::Unary, place);
  made->op = op;
  made->operand = operand;
  return made;
}

ast::Expr* Builder::binary(Place place, ast::BinaryOp op, Place op_place, ast::Expr* left, ast::Expr* right) {
  if (!needs_radl2(op_place, "an expression")) return error_value(place);
  if (too_long(op_place)) return left;
  auto* made = node<ast::Binary>(ast::Kind::Binary, place);
  made->op = op;
  made->op_span = at(op_place);
  made->left = left;
  made->right = right;
  return made;
}

ast::Expr* Builder::if_else(Place place, ast::Expr* condition, ast::Expr* then_value, ast::Expr* else_value) {
  if (!needs_radl2(place, "an expression")) return error_value(place);
  if (too_long(place)) return then_value;
  auto* made = node<ast::If>(ast::Kind::If, place);
  made->condition = condition;
  made->then_value = then_value;
  made->else_value = else_value;
  return made;
}

ast::Expr* Builder::call(Place place, Place function, List<ast::Expr*>* arguments) {
  if (!needs_radl2(place, "a function call")) return error_value(place);
  auto* made = node<ast::Call>(ast::Kind::Call, place);
  made->function = word(function);
  made->arguments = *arguments;
  return made;
}

ast::Expr* Builder::parenthesised(Place place, ast::Expr* value) {
  return needs_radl2(place, "an expression in parentheses") ? value : error_value(place);
}

ast::Expr* Builder::list_value(Place place, List<ast::Expr*>* items) {
  auto* made = node<ast::ListValue>(ast::Kind::ListValue, place);
  made->items = *items;
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

// ---- references
// ---------------------------------------------------------------------------------------------

// a.b.c is one name for the scanner; here it becomes three parts.
void Builder::split_path(List<ast::PathPart>& parts, ast::Name name) {
  uint32_t at = 0;
  while (at <= name.text.size()) {
    size_t dot = name.text.find('.', at);
    uint32_t end = static_cast<uint32_t>(dot == std::string_view::npos ? name.text.size() : dot);
    Span span{name.span.file, name.span.begin + at, name.span.begin + end};
    if (end > at) parts.push(tree_.arena, {{name.text.substr(at, end - at), span}, nullptr, span});
    at = end + 1;
  }
}

ast::Expr* Builder::reference(Place place) {
  ast::Name name = word(place);
  if (!radl2()) {
    std::string quoted = "'" + std::string(name.text) + "'";
    tree_.syntax_errors = true;
    diagnostics_.report(DiagCode::UnquotedText, at(place), "a string needs quotes: " + quoted)
        .fix("write " + quoted, at(place), quoted);
    return error_value(place);
  }
  std::string_view text = name.text;
  if (text == "yes" || text == "no" || text == "true" || text == "false") {
    auto* made = node<ast::Boolean>(ast::Kind::Boolean, place);
    made->value = text == "yes" || text == "true";
    return made;
  }
  auto* made = node<ast::Reference>(ast::Kind::Reference, place);
  split_path(made->parts, name);
  if (made->parts.empty()) {
    syntax(DiagCode::UnexpectedToken, place, "`" + std::string(text) + "` names nothing");
    return error_value(place);
  }
  return made;
}

ast::Expr* Builder::member(Place place, ast::Expr* base, Place name) {
  if (base->kind != ast::Kind::Reference) return error_value(place);
  base->span = at(place);
  if (word(name).text.ends_with('.')) {
    syntax(DiagCode::UnexpectedToken, name, "`.` with no name behind it");
    return error_value(place);
  }
  split_path(static_cast<ast::Reference*>(base)->parts, word(name));
  return base;
}

ast::Expr* Builder::index(Place place, ast::Expr* base, ast::Expr* index, Place brackets) {
  if (base->kind != ast::Kind::Reference) return error_value(place);
  if (too_long(brackets)) return base;
  base->span = at(place);
  static_cast<ast::Reference*>(base)->parts.push(tree_.arena, {{}, index, at(brackets)});
  return base;
}

ast::Expr* Builder::error_value(Place place) { return node<ast::Expr>(ast::Kind::ErrorValue, place); }

// ---- strings with ${ }
// ----------------------------------------------------------------------------------------

ast::String* Builder::text_parts() { return node<ast::String>(ast::Kind::String, Place(0, 0)); }

ast::String* Builder::add_part(ast::String* text, ast::StringPart* part) {
  if (!part->value && !text->parts.empty() && !text->parts.back().value) {
    ast::StringPart& before = text->parts.back();
    std::string joined(before.text);
    joined += part->text;
    before.text = tree_.arena.copy(joined);
    before.span = cover(before.span, part->span);
    return text;
  }
  text->parts.push(tree_.arena, *part);
  return text;
}

ast::StringPart* Builder::interpolation(Place place, ast::Expr* value) {
  return tree_.arena.make<ast::StringPart>(std::string_view(), value ? value : error_value(place), at(place));
}

ast::Expr* Builder::finish_text(Place place, ast::String* text) {
  text->span = at(place);
  too_long(place);
  return text;
}

}  // namespace radl
