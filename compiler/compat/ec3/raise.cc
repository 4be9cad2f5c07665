#include "compiler/compat/ec3/raise.h"

namespace radl::ec3 {
namespace {

template <class T>
T* node(ast::Kind kind, Span span, Arena& arena) {
  T* made = arena.make<T>();
  made->kind = kind;
  made->span = span;
  return made;
}

}  // namespace

ast::Expr* raise(const hir::Value& value, Arena& arena) {
  const Span at = value.span();
  if (auto* number = value.number()) {
    auto* made = node<ast::Number>(ast::Kind::Number, at, arena);
    static_cast<ast::NumberValue&>(*made) = *number;
    return made;
  }
  if (auto text = value.text()) {
    auto* made = node<ast::String>(ast::Kind::String, at, arena);
    made->text = *text;
    return made;
  }
  if (value.kind() == hir::Kind::Random) {
    auto* made = node<ast::Random>(ast::Kind::Random, at, arena);
    made->length = value.random_length();
    return made;
  }
  if (auto* list = value.list()) {
    auto* made = node<ast::ListValue>(ast::Kind::ListValue, at, arena);
    for (const hir::Value& item : *list) made->items.push(arena, raise(item, arena));
    return made;
  }
  if (auto* reference = value.reference()) {
    auto* made = node<ast::Ec3Reference>(ast::Kind::Ec3Reference, at, arena);
    made->target_kind = reference->kind;
    made->target = reference->target;
    return made;
  }
  return node<ast::Expr>(ast::Kind::ErrorValue, at, arena);  // no template holds expressions
}

ast::Feature* raise(const hir::Feature& feature, Arena& arena) {
  auto* made = node<ast::Feature>(ast::Kind::Feature, feature.span, arena);
  made->form = feature.value.group() != nullptr ? ast::FeatureKind::Contains : ast::FeatureKind::Simple;
  made->op = feature.op;
  made->strict = feature.strict;
  made->name = {feature.name, feature.name_span};
  made->op_span = feature.op_span;
  return made;
}

ast::Feature* raise(const hir::Soft& soft, Arena& arena) {
  auto* made = node<ast::Feature>(ast::Kind::Feature, soft.span, arena);
  made->form = ast::FeatureKind::Soft;
  if (soft.weight.number() != nullptr) made->weight = static_cast<ast::Number*>(raise(soft.weight, arena));
  made->group = arena.make<ast::Features>();
  made->group->present = true;
  made->group->span = soft.span;
  made->group->items = raise(*soft.features, arena);
  return made;
}

List<ast::Feature*> raise(const hir::Features& features, Arena& arena) {
  List<ast::Feature*> made;
  for (const hir::Feature& feature : features.items) {
    ast::Feature* one = raise(feature, arena);
    if (const hir::Features* group = feature.value.group()) {
      one->group = arena.make<ast::Features>();
      one->group->present = true;
      one->group->span = feature.value.span();
      one->group->items = raise(*group, arena);
    } else {
      one->value = raise(feature.value, arena);
    }
    made.push(arena, one);
  }
  for (const hir::Soft& soft : features.softs) made.push(arena, raise(soft, arena));
  return made;
}

}  // namespace radl::ec3
