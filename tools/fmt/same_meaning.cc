// Structural comparison of two trees.
#include "tools/fmt/format.h"

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

bool same_path(const List<PathPart>& a, const List<PathPart>& b) {
  return same_list(a, b, [](const PathPart& x, const PathPart& y) {
    return same(x.name, y.name) && same(x.index, y.index);
  });
}

bool same_entry(const Entry& a, const Entry& b) {
  return same(a.name, b.name) && same(a.key, b.key) && same(a.value, b.value);
}

bool same_each(const Each& a, const Each& b) {
  return same(a.first, b.first) && same(a.second, b.second) && same(a.list, b.list);
}
bool same_each(const Each* a, const Each* b) { return !a || !b ? a == b : same_each(*a, *b); }

bool same_call(const Call& a, const Call& b) {
  return same(a.function, b.function) && same_exprs(a.arguments, b.arguments) &&
         same_list(a.named, b.named, same_entry);
}

bool same_comprehension(const Comprehension& a, const Comprehension& b) {
  return a.makes_map == b.makes_map && same_entry(a.element, b.element) && same_each(a.each, b.each) &&
         same(a.condition, b.condition);
}

bool same(const Expr* a, const Expr* b) {
  if (!a || !b) return a == b;
  if (a->kind != b->kind) return false;
  if (auto* x = as<Number>(a)) return same_number(x, as<Number>(b));
  if (auto* x = as<String>(a)) return same_string(*x, *as<String>(b));
  if (auto* x = as<Random>(a)) return x->length == as<Random>(b)->length;
  if (auto* x = as<Boolean>(a)) return x->value == as<Boolean>(b)->value;
  if (auto* x = as<ListValue>(a)) return same_exprs(x->items, as<ListValue>(b)->items);
  if (auto* x = as<Reference>(a)) return same_path(x->parts, as<Reference>(b)->parts);
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
  if (auto* x = as<Call>(a)) return same_call(*x, *as<Call>(b));
  if (auto* x = as<MapValue>(a)) return same_list(x->entries, as<MapValue>(b)->entries, same_entry);
  if (auto* x = as<Select>(a))
    return same(x->base, as<Select>(b)->base) && same_path(x->parts, as<Select>(b)->parts);
  if (auto* x = as<Comprehension>(a)) return same_comprehension(*x, *as<Comprehension>(b));
  if (a->kind == Kind::Bound) return false;  // no file has one
  return true;                               // two ErrorValues
}

bool same_feature(const Feature* a, const Feature* b) {
  if (a->form != b->form || a->op != b->op || !same(a->name, b->name) || !same(a->value, b->value))
    return false;
  if (!same_number(a->weight, b->weight) || !same(a->named, b->named) || !same_each(a->each, b->each))
    return false;
  if (!a->group || !b->group) return a->group == b->group;
  return same(*a->group, *b->group);
}

bool same(const Features& a, const Features& b) {
  return a.present == b.present && same_list(a.items, b.items, same_feature);
}

bool same_resource(const Resource* a, const Resource* b) {
  return same(a->type, b->type) && same(a->name, b->name) && same(a->body, b->body) &&
         same_each(a->each, b->each) && same_list(a->inner, b->inner, same_resource);
}

bool same_configure(const Configure& a, const Configure& b) {
  if (a.has_body != b.has_body || !a.recipe != !b.recipe) return false;
  if (a.recipe && a.recipe->text != b.recipe->text) return false;
  return same_list(a.resources, b.resources, same_resource);
}

bool same_item(const Item* a, const Item* b) {
  return same(a->system, b->system) && same(a->configure, b->configure) && same_number(a->step, b->step) &&
         same(a->tool, b->tool) &&
         same_list(a->after, b->after, [](const Name& x, const Name& y) { return same(x, y); }) &&
         same_list(a->after_named, b->after_named, [](const Expr* x, const Expr* y) { return same(x, y); }) &&
         same(a->systems, b->systems) && same(a->named, b->named) && same(a->when, b->when) &&
         same(a->step_of, b->step_of) && same_each(a->each, b->each) &&
         same_list(a->inner, b->inner, same_item);
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
  if (!same(a->named, b->named)) return false;
  if (auto* x = as<Version>(a)) return x->number == as<Version>(b)->number;
  if (auto* x = as<FeatureBlock>(a)) return same(x->body, as<FeatureBlock>(b)->body);
  if (auto* x = as<Use>(a)) return same(x->module, as<Use>(b)->module) && same(x->body, as<Use>(b)->body);
  if (auto* x = as<Configure>(a)) return same_configure(*x, *as<Configure>(b));
  if (auto* x = as<Deploy>(a))
    return same(x->count, as<Deploy>(b)->count) && same(x->cloud, as<Deploy>(b)->cloud) &&
           same(x->when, as<Deploy>(b)->when);
  if (auto* x = as<Let>(a)) {
    auto* y = as<Let>(b);
    auto same_name = [](const Name& one, const Name& other) { return same(one, other); };
    return same(x->value, y->value) && same_list(x->parameters, y->parameters, same_name);
  }
  if (auto* x = as<Assert>(a))
    return same(x->condition, as<Assert>(b)->condition) && same(x->message, as<Assert>(b)->message);
  if (auto* x = as<Moved>(a)) return same(x->from, as<Moved>(b)->from) && same(x->to, as<Moved>(b)->to);
  if (auto* x = as<EachBlock>(a))
    return same_each(x->each, as<EachBlock>(b)->each) &&
           same_list(x->blocks, as<EachBlock>(b)->blocks, same_block);
  if (auto* x = as<Contextualize>(a)) return same_contextualize(*x, *as<Contextualize>(b));
  return true;
}

}  // namespace

bool same_meaning(const Tree& left, const Tree& right) {
  if (left.dialect != right.dialect || left.syntax_errors != right.syntax_errors) return false;
  return same_list(left.blocks, right.blocks, same_block);
}

}  // namespace radl::formatter
