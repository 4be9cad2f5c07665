// Structural comparison of two trees.
#include "compiler/tools/fmt/format.h"

namespace radl::formatter {
namespace {

using namespace ast;

bool same(const Expr* a, const Expr* b);
bool same(const Features& a, const Features& b);

bool same(const Name& a, const Name& b) { return a.text == b.text; }

template <class T, class Equal>
bool same_list(const List<T>& a, const List<T>& b, Equal equal) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!equal(a[i], b[i])) return false;
  }
  return true;
}

bool same_exprs(const List<Expr*>& a, const List<Expr*>& b) {
  return same_list(a, b, [](const Expr* x, const Expr* y) { return same(x, y); });
}

bool same_number(const Number* a, const Number* b) {
  if (!a || !b) return a == b;
  return a->digits == b->digits && a->is_float == b->is_float && same(a->unit, b->unit);
}

bool same_string(const String& a, const String& b) {
  if (a.parts.size() != b.parts.size()) return false;
  if (a.parts.empty()) return a.text == b.text;
  return same_list(a.parts, b.parts, [](const StringPart& x, const StringPart& y) {
    return x.value ? same(x.value, y.value) : !y.value && x.text == y.text;
  });
}

bool same_path(const Reference& a, const Reference& b) {
  return same_list(a.parts, b.parts, [](const PathPart& x, const PathPart& y) {
    return same(x.name, y.name) && same(x.index, y.index);
  });
}

bool same(const Expr* a, const Expr* b) {
  if (!a || !b) return a == b;
  if (a->kind != b->kind) return false;
  if (auto* x = as<Number>(a)) return same_number(x, as<Number>(b));
  if (auto* x = as<String>(a)) return same_string(*x, *as<String>(b));
  if (auto* x = as<Random>(a)) return x->length == as<Random>(b)->length;
  if (auto* x = as<Boolean>(a)) return x->value == as<Boolean>(b)->value;
  if (auto* x = as<ListValue>(a)) return same_exprs(x->items, as<ListValue>(b)->items);
  if (auto* x = as<Reference>(a)) return same_path(*x, *as<Reference>(b));
  if (auto* x = as<Ec3Reference>(a)) {
    auto* y = as<Ec3Reference>(b);
    return same(x->target_kind, y->target_kind) && same(x->target, y->target);
  }
  if (auto* x = as<Unary>(a)) return x->op == as<Unary>(b)->op && same(x->operand, as<Unary>(b)->operand);
  if (auto* x = as<Binary>(a)) {
    auto* y = as<Binary>(b);
    return x->op == y->op && same(x->left, y->left) && same(x->right, y->right);
  }
  if (auto* x = as<If>(a)) {
    auto* y = as<If>(b);
    return same(x->condition, y->condition) && same(x->then_value, y->then_value) &&
           same(x->else_value, y->else_value);
  }
  if (auto* x = as<Call>(a)) {
    auto* y = as<Call>(b);
    return same(x->function, y->function) && same_exprs(x->arguments, y->arguments);
  }
  return true;  // two ErrorValues
}

bool same_feature(const Feature* a, const Feature* b) {
  if (a->form != b->form || a->op != b->op || !same(a->name, b->name) || !same(a->value, b->value))
    return false;
  if (!same_number(a->weight, b->weight)) return false;
  if (!a->group || !b->group) return a->group == b->group;
  return same(*a->group, *b->group);
}

bool same(const Features& a, const Features& b) {
  return a.present == b.present && same_list(a.items, b.items, same_feature);
}

bool same_resource(const Resource* a, const Resource* b) {
  return same(a->type, b->type) && same(a->name, b->name) && same(a->body, b->body);
}

bool same_configure(const Configure& a, const Configure& b) {
  if (a.has_body != b.has_body || !a.recipe != !b.recipe) return false;
  if (a.recipe && a.recipe->text != b.recipe->text) return false;
  return same_list(a.resources, b.resources, same_resource);
}

bool same_item(const Item* a, const Item* b) {
  return same(a->system, b->system) && same(a->configure, b->configure) && same_number(a->step, b->step) &&
         same(a->tool, b->tool) &&
         same_list(a->after, b->after, [](const Name& x, const Name& y) { return same(x, y); });
}

bool same_contextualize(const Contextualize& a, const Contextualize& b) {
  auto same_option = [](const Option* x, const Option* y) {
    return x->op == y->op && same(x->name, y->name) && same(x->value, y->value);
  };
  return same_number(a.max_time, b.max_time) && same_list(a.options, b.options, same_option) &&
         same_list(a.items, b.items, same_item);
}

bool same_block(const Block* a, const Block* b) {
  if (a->kind != b->kind || !same(a->keyword, b->keyword) || !same(a->name, b->name)) return false;
  if (auto* x = as<Version>(a)) return x->number == as<Version>(b)->number;
  if (auto* x = as<FeatureBlock>(a)) return same(x->body, as<FeatureBlock>(b)->body);
  if (auto* x = as<Use>(a)) return same(x->module, as<Use>(b)->module) && same(x->body, as<Use>(b)->body);
  if (auto* x = as<Configure>(a)) return same_configure(*x, *as<Configure>(b));
  if (auto* x = as<Deploy>(a))
    return same(x->count, as<Deploy>(b)->count) && same(x->cloud, as<Deploy>(b)->cloud);
  if (auto* x = as<Contextualize>(a)) return same_contextualize(*x, *as<Contextualize>(b));
  return true;
}

}  // namespace

bool same_meaning(const Tree& left, const Tree& right) {
  if (left.dialect != right.dialect || left.syntax_errors != right.syntax_errors) return false;
  return same_list(left.blocks, right.blocks, same_block);
}

}  // namespace radl::formatter
