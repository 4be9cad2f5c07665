#include "compiler/syntax/builder.h"

namespace radl {
namespace {

// Trees are walked recursively; this bounds their depth.
constexpr int kMaxOperators = 2000;

template <class T>
T* node(ast::Tree& tree, ast::Kind kind, Span span) {
  T* made = tree.arena.make<T>();
  made->kind = kind;
  made->span = span;
  return made;
}

bool known_unit(std::string_view unit) {
  for (std::string_view known :
       {"b",   "k",   "m",   "g",   "t",   "kb",   "mb",  "gb", "tb",  "ki", "mi", "gi", "ti",
        "kib", "mib", "gib", "tib", "ecu", "gceu", "hrz", "s",  "min", "h",  "d",  "ms"}) {
    if (unit.size() != known.size()) continue;
    bool same = true;
    for (size_t i = 0; i < unit.size(); ++i) same = same && (unit[i] | 0x20) == known[i];
    if (same) return true;
  }
  return false;
}

}  // namespace

// Counts the operators of one feature. Beyond the limit an error, and the operator's left side alone.
bool Builder::too_long(Span span) {
  if (++operators_ <= kMaxOperators) return false;
  if (operators_ == kMaxOperators + 1)
    syntax(DiagCode::NestingTooDeep, span,
           "an expression has more than " + std::to_string(kMaxOperators) + " operators");
  return true;
}

ast::Expr* Builder::with_unit(Span span, ast::Number* number, ast::Name unit) {
  if (source_.text({span.file, number->span.end, unit.span.begin}).find('\n') != std::string_view::npos ||
      !known_unit(unit.text))
    diagnostics_.report(
        DiagCode::OddUnit, unit.span,
        "`" + std::string(unit.text) + "` is taken for the unit of " + std::string(number->digits));
  number->unit = unit;
  number->span = span;
  return number;
}

ast::Expr* Builder::ec3_reference(Span span, Span kind, ast::Name target) {
  auto* made = node<ast::Ec3Reference>(tree_, ast::Kind::Ec3Reference, span);
  made->target_kind = word(kind);
  made->target = target;
  ec3_use(ast::Ec3Use::What::ReferenceValue, span, made->target_kind);
  tree_.ec3_mark = true;
  return made;
}

ast::Expr* Builder::unary(Span span, ast::UnaryOp op, ast::Expr* operand) {
  if (!needs_radl2(span, "an expression")) return error_value(span);
  if (too_long(span)) return operand;
  auto* made = node<ast::Unary>(tree_, ast::Kind::Unary, span);
  made->op = op;
  made->operand = operand;
  return made;
}

ast::Expr* Builder::binary(Span span, ast::BinaryOp op, Span op_span, ast::Expr* left, ast::Expr* right) {
  if (!needs_radl2(op_span, "an expression")) return error_value(span);
  if (too_long(op_span)) return left;
  auto* made = node<ast::Binary>(tree_, ast::Kind::Binary, span);
  made->op = op;
  made->op_span = op_span;
  made->left = left;
  made->right = right;
  return made;
}

ast::Expr* Builder::if_else(Span span, ast::Expr* condition, ast::Expr* then_value, ast::Expr* else_value) {
  if (!needs_radl2(span, "an expression")) return error_value(span);
  if (too_long(span)) return then_value;
  auto* made = node<ast::If>(tree_, ast::Kind::If, span);
  made->condition = condition;
  made->then_value = then_value;
  made->else_value = else_value;
  return made;
}

ast::Expr* Builder::call(Span span, ast::Name function, List<ast::Expr*>* arguments) {
  if (!needs_radl2(span, "a function call")) return error_value(span);
  auto* made = node<ast::Call>(tree_, ast::Kind::Call, span);
  made->function = function;
  made->arguments = *arguments;
  return made;
}

ast::Expr* Builder::parenthesised(Span span, ast::Expr* value) {
  return needs_radl2(span, "an expression in parentheses") ? value : error_value(span);
}

ast::Expr* Builder::list_value(Span span, List<ast::Expr*>* items) {
  auto* made = node<ast::ListValue>(tree_, ast::Kind::ListValue, span);
  made->items = *items;
  if (radl2()) {
    too_long(span);
    return made;
  }
  for (const ast::Expr* item : made->items)
    if (item->kind != ast::Kind::String && item->kind != ast::Kind::ErrorValue) {
      syntax(DiagCode::UnexpectedToken, item->span, "a list holds texts in quotes");
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
void Builder::split_reference(ast::Reference* reference, ast::Name name) {
  uint32_t at = 0;
  while (at <= name.text.size()) {
    size_t dot = name.text.find('.', at);
    uint32_t end = static_cast<uint32_t>(dot == std::string_view::npos ? name.text.size() : dot);
    Span span{name.span.file, name.span.begin + at, name.span.begin + end};
    if (end > at) reference->parts.push(tree_.arena, {{name.text.substr(at, end - at), span}, nullptr, span});
    at = end + 1;
  }
}

ast::Expr* Builder::reference(Span span, ast::Name name) {
  if (!radl2()) {
    std::string quoted = "'" + std::string(name.text) + "'";
    tree_.syntax_errors = true;
    diagnostics_.report(DiagCode::UnquotedText, span, "a text needs quotes: " + quoted)
        .fix("write " + quoted, span, quoted);
    return error_value(span);
  }
  std::string_view text = name.text;
  if (text == "yes" || text == "no" || text == "true" || text == "false") {
    auto* made = node<ast::Boolean>(tree_, ast::Kind::Boolean, span);
    made->value = text == "yes" || text == "true";
    return made;
  }
  auto* made = node<ast::Reference>(tree_, ast::Kind::Reference, span);
  split_reference(made, name);
  if (made->parts.empty()) {
    syntax(DiagCode::UnexpectedToken, span, "`" + std::string(text) + "` names nothing");
    return error_value(span);
  }
  return made;
}

ast::Expr* Builder::member(Span span, ast::Expr* base, ast::Name name) {
  if (base->kind != ast::Kind::Reference) return error_value(span);
  base->span = span;
  split_reference(static_cast<ast::Reference*>(base), name);
  return base;
}

ast::Expr* Builder::index(Span span, ast::Expr* base, ast::Expr* index, Span brackets) {
  if (base->kind != ast::Kind::Reference) return error_value(span);
  if (too_long(brackets)) return base;
  base->span = span;
  static_cast<ast::Reference*>(base)->parts.push(tree_.arena, {{}, index, brackets});
  return base;
}

ast::Expr* Builder::error_value(Span span) { return node<ast::Expr>(tree_, ast::Kind::ErrorValue, span); }

// ---- texts with ${ }
// ----------------------------------------------------------------------------------------

ast::String* Builder::text_parts() { return node<ast::String>(tree_, ast::Kind::String, {}); }

ast::String* Builder::add_part(ast::String* text, ast::StringPart part) {
  if (!part.value && !text->parts.empty() && !text->parts.back().value) {
    ast::StringPart& before = text->parts.back();
    std::string joined(before.text);
    joined += part.text;
    before.text = tree_.arena.copy(joined);
    before.span = cover(before.span, part.span);
    return text;
  }
  text->parts.push(tree_.arena, part);
  return text;
}

ast::StringPart Builder::interpolation(Span span, ast::Expr* value) {
  return {{}, value ? value : error_value(span), span};
}

ast::Expr* Builder::finish_text(Span span, ast::String* text) {
  text->span = span;
  too_long(span);
  return text;
}

}  // namespace radl
