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
  } else if (auto* reference = ast::as<ast::Reference>(&value)) {
    for (const ast::PathPart& part : reference->parts) one(part.index);
  }
}

// The same for the values of features, groups included.
template <class Visit>
void each_value(const ast::Features& features, Visit&& visit) {
  for (const ast::Feature* feature : features.items) {
    if (feature->weight) visit(*feature->weight);
    if (feature->value) visit(*feature->value);
    if (feature->group) each_value(*feature->group, visit);
  }
}

// The same for all values that a block holds, whatever kind it is.
template <class Visit>
void each_value(const ast::Block& block, Visit&& visit) {
  auto one = [&visit](const ast::Expr* value) {
    if (value) visit(*value);
  };
  if (auto* feature_block = ast::as<ast::FeatureBlock>(&block)) {
    each_value(feature_block->body, visit);
  } else if (auto* use = ast::as<ast::Use>(&block)) {
    one(use->module);
    each_value(use->body, visit);
  } else if (auto* configure = ast::as<ast::Configure>(&block)) {
    for (const ast::Resource* resource : configure->resources) {
      one(resource->name);
      each_value(resource->body, visit);
    }
  } else if (auto* deploy = ast::as<ast::Deploy>(&block)) {
    one(deploy->count);
  } else if (auto* context = ast::as<ast::Contextualize>(&block)) {
    one(context->max_time);
    for (const ast::Option* option : context->options) one(option->value);
    for (const ast::Item* item : context->items) one(item->step);
  }
}

}  // namespace radl
