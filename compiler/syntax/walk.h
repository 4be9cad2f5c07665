// Visits all values of a tree, for editor tools and the formatter.
#pragma once

#include "compiler/syntax/ast.h"

namespace radl {

// Calls f(node, members...) with the value as its concrete type and pointers to the members that hold values
// or contain them, in source order.
template <class F>
decltype(auto) with_members(const ast::Expr& value, F&& f) {
  using namespace ast;
  if (auto* text = as<String>(&value)) return f(*text, &String::parts);
  if (auto* list = as<ListValue>(&value)) return f(*list, &ListValue::items);
  if (auto* reference = as<Reference>(&value)) return f(*reference, &Reference::parts);
  if (auto* unary = as<Unary>(&value)) return f(*unary, &Unary::operand);
  if (auto* binary = as<Binary>(&value)) return f(*binary, &Binary::left, &Binary::right);
  if (auto* choice = as<If>(&value)) return f(*choice, &If::condition, &If::then_value, &If::else_value);
  if (auto* call = as<Call>(&value)) return f(*call, &Call::arguments, &Call::named);
  if (auto* map = as<MapValue>(&value)) return f(*map, &MapValue::entries);
  if (auto* select = as<Select>(&value)) return f(*select, &Select::base, &Select::parts);
  if (auto* made = as<Comprehension>(&value))
    return f(*made, &Comprehension::element, &Comprehension::each, &Comprehension::condition);
  return f(value);
}

// Calls `visit` for the values directly inside a part of a value.
template <class Visit>
void each_inside(const ast::Expr* value, Visit& visit) {
  if (value) visit(*value);
}
template <class Visit>
void each_inside(const ast::StringPart& part, Visit& visit) {
  each_inside(part.value, visit);
}
template <class Visit>
void each_inside(const ast::PathPart& part, Visit& visit) {
  each_inside(part.index, visit);
}
template <class Visit>
void each_inside(const ast::Entry& entry, Visit& visit) {
  each_inside(entry.key, visit);
  each_inside(entry.value, visit);
}
template <class Visit>
void each_inside(const ast::Each& each, Visit& visit) {
  each_inside(each.list, visit);
}
template <class T, class Visit>
void each_inside(const List<T>& parts, Visit& visit) {
  for (const T& part : parts) each_inside(part, visit);
}

// Calls visit(const ast::Expr&) for each direct child value of this one, in source order.
template <class Visit>
void each_part(const ast::Expr& value, Visit&& visit) {
  with_members(value, [&visit]([[maybe_unused]] const auto& node, auto... members) {
    (each_inside(node.*members, visit), ...);
  });
}

// Same for the values of features, including groups.
template <class Visit>
void each_value(const ast::Features& features, Visit&& visit) {
  for (const ast::Feature* feature : features.items) {
    if (feature->weight) visit(*feature->weight);
    if (feature->named) visit(*feature->named);
    if (feature->value) visit(*feature->value);
    if (feature->each && feature->each->list) visit(*feature->each->list);
    if (feature->group) each_value(*feature->group, visit);
  }
}

// Same for the resources of a recipe, and for the items of `contextualize`.
template <class Visit>
void each_value(const List<ast::Resource*>& resources, Visit&& visit) {
  for (const ast::Resource* resource : resources) {
    if (resource->name) visit(*resource->name);
    each_value(resource->body, visit);
    if (resource->each && resource->each->list) visit(*resource->each->list);
    each_value(resource->inner, visit);
  }
}
template <class Visit>
void each_value(const List<ast::Item*>& items, Visit&& visit) {
  for (const ast::Item* item : items) {
    if (item->systems) visit(*item->systems);
    if (item->named) visit(*item->named);
    for (const ast::Expr* name : item->after_named) visit(*name);
    if (item->step) visit(*item->step);
    if (item->step_of) visit(*item->step_of);
    if (item->when) visit(*item->when);
    if (item->each && item->each->list) visit(*item->each->list);
    each_value(item->inner, visit);
  }
}

// Same for all values of a block of any kind.
template <class Visit>
void each_value(const ast::Block& block, Visit&& visit) {
  auto one = [&visit](const ast::Expr* value) {
    if (value) visit(*value);
  };
  one(block.named);
  if (auto* feature_block = ast::as<ast::FeatureBlock>(&block)) {
    each_value(feature_block->body, visit);
  } else if (auto* use = ast::as<ast::Use>(&block)) {
    one(use->module);
    each_value(use->body, visit);
  } else if (auto* configure = ast::as<ast::Configure>(&block)) {
    each_value(configure->resources, visit);
  } else if (auto* deploy = ast::as<ast::Deploy>(&block)) {
    one(deploy->count);
    one(deploy->cloud);
    one(deploy->when);
  } else if (auto* let = ast::as<ast::Let>(&block)) {
    one(let->value);
  } else if (auto* check = ast::as<ast::Assert>(&block)) {
    one(check->condition);
    one(check->message);
  } else if (auto* moved = ast::as<ast::Moved>(&block)) {
    one(moved->from);
    one(moved->to);
  } else if (auto* each = ast::as<ast::EachBlock>(&block)) {
    one(each->each.list);
    for (const ast::Block* inner : each->blocks) each_value(*inner, visit);
  } else if (auto* context = ast::as<ast::Contextualize>(&block)) {
    one(context->max_time);
    for (const ast::Option* option : context->options) one(option->value);
    each_value(context->items, visit);
  }
}

// Calls `visit` for a block and all blocks inside it.
template <class Visit>
void each_block(const List<ast::Block*>& blocks, Visit&& visit) {
  for (const ast::Block* block : blocks) {
    visit(*block);
    if (auto* each = ast::as<ast::EachBlock>(block)) each_block(each->blocks, visit);
  }
}

}  // namespace radl
