#include "compiler/eval/copy.h"

namespace radl {

const Variables* find_variable(std::string_view name, const Variables* variables) {
  while (variables != nullptr && variables->name != name) variables = variables->outer;
  return variables;
}

namespace {

const expr::Value* variable(const ast::Name& name, const Variables* variables) {
  const Variables* found = name ? find_variable(name.text, variables) : nullptr;
  return found == nullptr ? nullptr : found->value;
}

}  // namespace

ast::Bound* Copier::bound(const ast::Name& name, const expr::Value* value) {
  auto* made = arena_.make<ast::Bound>();
  made->kind = ast::Kind::Bound;
  made->span = name.span;
  made->value = value;
  made->name = name;
  return made;
}

List<ast::PathPart> Copier::parts(const List<ast::PathPart>& parts, size_t from, const Variables* variables) {
  List<ast::PathPart> made;
  for (size_t i = from; i < parts.size(); i++)
    made.push(arena_, {parts[i].name, copy(parts[i].index, variables), parts[i].span});
  return made;
}

ast::Expr* Copier::reference(const ast::Reference& reference, const Variables* variables) {
  const Variables* found =
      reference.parts.empty() ? nullptr : find_variable(reference.parts[0].name.text, variables);
  const expr::Value* value = found == nullptr ? nullptr : found->value;
  if (value == nullptr) {
    auto* made = same(reference);
    made->parts = parts(reference.parts, 0, variables);
    if (found != nullptr && !found->let.empty()) made->parts[0].name.text = found->let;
    return made;
  }
  ast::Bound* bound = this->bound(reference.parts[0].name, value);
  bound->span = reference.span;
  if (reference.parts.size() == 1) return bound;
  auto* select = arena_.make<ast::Select>();
  select->kind = ast::Kind::Select;
  select->span = reference.span;
  select->base = bound;
  select->parts = parts(reference.parts, 1, variables);
  return select;
}

ast::Entry Copier::entry(const ast::Entry& entry, const Variables* variables) {
  return {entry.name, copy(entry.key, variables), copy(entry.value, variables), entry.span};
}

ast::Expr* Copier::comprehension(const ast::Comprehension& made, const Variables* variables) {
  auto* copied = same(made);
  copied->each.list = copy(made.each.list, variables);
  // Its own variables hide those of the same name.
  expr::Binding first{made.each.first.text, nullptr, variables},
      second{made.each.second.text, nullptr, &first};
  const Variables* inside = made.each.second ? &second : &first;
  copied->element = entry(made.element, inside);
  copied->condition = copy(made.condition, inside);
  return copied;
}

ast::Expr* Copier::copy(const ast::Expr* value, const Variables* variables) {
  if (value == nullptr) return nullptr;
  if (auto* text = ast::as<ast::String>(value)) {
    auto* made = same(*text);
    made->parts = {};
    for (const ast::StringPart& part : text->parts)
      made->parts.push(arena_, {part.text, copy(part.value, variables), part.span});
    return made;
  }
  if (auto* list = ast::as<ast::ListValue>(value)) {
    auto* made = same(*list);
    made->items = {};
    for (const ast::Expr* item : list->items) made->items.push(arena_, copy(item, variables));
    return made;
  }
  if (auto* reference = ast::as<ast::Reference>(value)) return this->reference(*reference, variables);
  if (auto* unary = ast::as<ast::Unary>(value)) {
    auto* made = same(*unary);
    made->operand = copy(unary->operand, variables);
    return made;
  }
  if (auto* binary = ast::as<ast::Binary>(value)) {
    auto* made = same(*binary);
    made->left = copy(binary->left, variables);
    made->right = copy(binary->right, variables);
    return made;
  }
  if (auto* choice = ast::as<ast::If>(value)) {
    auto* made = same(*choice);
    made->condition = copy(choice->condition, variables);
    made->then_value = copy(choice->then_value, variables);
    made->else_value = copy(choice->else_value, variables);
    return made;
  }
  if (auto* call = ast::as<ast::Call>(value)) {
    auto* made = same(*call);
    made->arguments = {};
    made->named = {};
    const Variables* function = find_variable(call->function.text, variables);
    if (function != nullptr && !function->let.empty()) made->function.text = function->let;
    for (const ast::Expr* argument : call->arguments) made->arguments.push(arena_, copy(argument, variables));
    for (const ast::Entry& named : call->named) made->named.push(arena_, entry(named, variables));
    return made;
  }
  if (auto* map = ast::as<ast::MapValue>(value)) {
    auto* made = same(*map);
    made->entries = {};
    for (const ast::Entry& each : map->entries) made->entries.push(arena_, entry(each, variables));
    return made;
  }
  if (auto* select = ast::as<ast::Select>(value)) {
    auto* made = same(*select);
    made->base = copy(select->base, variables);
    made->parts = parts(select->parts, 0, variables);
    return made;
  }
  if (auto* made = ast::as<ast::Comprehension>(value)) return comprehension(*made, variables);
  return const_cast<ast::Expr*>(value);  // holds no names
}

ast::Name Copier::copy(const ast::Name& name, const Variables* variables) {
  const expr::Value* value = variable(name, variables);
  if (value == nullptr || value->sensitive()) return name;
  if (value->kind() != expr::Kind::String && value->kind() != expr::Kind::System) return name;
  return {arena_.copy(value->as_text()), name.span};
}

ast::Features Copier::copy(const ast::Features& features, const Variables* variables) {
  ast::Features made = features;
  made.items = {};
  for (const ast::Feature* feature : features.items) made.items.push(arena_, copy(*feature, variables));
  return made;
}

ast::Feature* Copier::copy(const ast::Feature& feature, const Variables* variables) {
  auto* copied = same(feature);
  copied->named = copy(feature.named, variables);
  copied->value = copy(feature.value, variables);
  expr::Binding first{}, second{};
  const Variables* inside = variables;
  if (feature.each) {
    copied->each = same(*feature.each);
    copied->each->list = copy(feature.each->list, variables);
    first = {feature.each->first.text, nullptr, variables};
    second = {feature.each->second.text, nullptr, &first};
    inside = feature.each->second ? &second : &first;
  }
  if (feature.group) copied->group = arena_.make<ast::Features>(copy(*feature.group, inside));
  return copied;
}

List<ast::Resource*> Copier::copy(const List<ast::Resource*>& resources, const Variables* variables) {
  List<ast::Resource*> made;
  for (const ast::Resource* resource : resources) {
    auto* copied = same(*resource);
    copied->name = copy(resource->name, variables);
    copied->body = copy(resource->body, variables);
    expr::Binding first{}, second{};
    const Variables* inside = variables;
    if (resource->each) {
      copied->each = same(*resource->each);
      copied->each->list = copy(resource->each->list, variables);
      first = {resource->each->first.text, nullptr, variables};
      second = {resource->each->second.text, nullptr, &first};
      inside = resource->each->second ? &second : &first;
    }
    copied->inner = copy(resource->inner, inside);
    made.push(arena_, copied);
  }
  return made;
}

ast::Item* Copier::copy(const ast::Item& item, const Variables* variables) {
  auto* made = same(item);
  const expr::Value* system = variable(item.system, variables);
  if (system != nullptr && system->kind() != expr::Kind::String) {
    made->systems = bound(item.system, system);
    made->system.text = {};
  } else {
    made->system = copy(item.system, variables);
    made->systems = copy(item.systems, variables);
  }
  made->configure = item.named ? item.configure : copy(item.configure, variables);
  made->named = copy(item.named, variables);
  made->after = {};
  for (const ast::Name& name : item.after) made->after.push(arena_, copy(name, variables));
  made->after_named = {};
  for (const ast::Expr* name : item.after_named) made->after_named.push(arena_, copy(name, variables));
  made->when = copy(item.when, variables);
  made->step_of = copy(item.step_of, variables);
  return made;
}

ast::Block* Copier::copy(const ast::Block& block, const Variables* variables) {
  ast::Block* made = nullptr;
  if (auto* features = ast::as<ast::FeatureBlock>(&block)) {
    auto* copied = same(*features);
    copied->body = copy(features->body, variables);
    made = copied;
  } else if (auto* use = ast::as<ast::Use>(&block)) {
    auto* copied = same(*use);
    copied->body = copy(use->body, variables);
    made = copied;
  } else if (auto* configure = ast::as<ast::Configure>(&block)) {
    auto* copied = same(*configure);
    copied->resources = copy(configure->resources, variables);
    made = copied;
  } else if (auto* deploy = ast::as<ast::Deploy>(&block)) {
    auto* copied = same(*deploy);
    copied->name = copy(deploy->name, variables);
    copied->count = copy(deploy->count, variables);
    copied->cloud = copy(deploy->cloud, variables);
    copied->when = copy(deploy->when, variables);
    made = copied;
  } else if (auto* let = ast::as<ast::Let>(&block)) {
    auto* copied = same(*let);
    std::vector<expr::Binding> parameters(let->parameters.size());
    const Variables* inside = variables;
    for (uint32_t i = 0; i < let->parameters.size(); ++i) {
      parameters[i] = {let->parameters[i].text, nullptr, inside};
      inside = &parameters[i];
    }
    copied->value = copy(let->value, inside);
    made = copied;
  } else if (auto* check = ast::as<ast::Assert>(&block)) {
    auto* copied = same(*check);
    copied->condition = copy(check->condition, variables);
    copied->message = copy(check->message, variables);
    made = copied;
  } else if (auto* moved = ast::as<ast::Moved>(&block)) {
    auto* copied = same(*moved);
    copied->from = copy(moved->from, variables);
    copied->to = copy(moved->to, variables);
    made = copied;
  } else if (auto* context = ast::as<ast::Contextualize>(&block)) {
    made = same(*context);
  } else {
    made = same(block);
  }
  made->named = copy(block.named, variables);
  return made;
}

}  // namespace radl
