// Walking over the values of a tree, for whatever looks at all of them: editors' tools, the formatter.
#pragma once

#include "compiler/syntax/ast.h"

namespace radl {

// Calls visit(const ast::Expr&) for each value that stands directly inside this one, in order of place.
template <class Visit>
void each_part(const ast::Expr& value, Visit&& visit) {
  auto one = [&visit](const ast::Expr* part) {
    if (part) visit(*part);
  };
  if (auto* text = ast::as<ast::String>(&value)) {
    for (const ast::StringPart& part : text->parts) one(part.value);
  } else if (auto* list = ast::as<ast::ListValue>(&value)) {
    for (const ast::Expr* item : list->items) one(item);
  } else if (auto* unary = ast::as<ast::Unary>(&value)) {
    one(unary->operand);
  } else if (auto* binary = ast::as<ast::Binary>(&value)) {
    one(binary->left);
    one(binary->right);
  } else if (auto* choice = ast::as<ast::If>(&value)) {
    one(choice->condition);
    one(choice->then_value);
    one(choice->else_value);
  } else if (auto* call = ast::as<ast::Call>(&value)) {
    for (const ast::Expr* argument : call->arguments) one(argument);
    for (const ast::Entry& entry : call->named) one(entry.value);
  } else if (auto* map = ast::as<ast::MapValue>(&value)) {
    for (const ast::Entry& entry : map->entries) {
      one(entry.key);
      one(entry.value);
    }
  } else if (auto* select = ast::as<ast::Select>(&value)) {
    one(select->base);
    for (const ast::PathPart& part : select->parts) one(part.index);
  } else if (auto* made = ast::as<ast::Comprehension>(&value)) {
    one(made->element.key);
    one(made->element.value);
    one(made->each.list);
    one(made->condition);
  } else if (auto* reference = ast::as<ast::Reference>(&value)) {
    for (const ast::PathPart& part : reference->parts) one(part.index);
  }
}

// The same for the values of features, groups included.
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

// The same for the resources of a recipe, and for the items of `contextualize`.
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

// The same for all values that a block holds, whatever kind it is.
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

// Calls for a block and all that stand inside it.
template <class Visit>
void each_block(const List<ast::Block*>& blocks, Visit&& visit) {
  for (const ast::Block* block : blocks) {
    visit(*block);
    if (auto* each = ast::as<ast::EachBlock>(block)) each_block(each->blocks, visit);
  }
}

}  // namespace radl
