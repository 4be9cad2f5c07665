#include "compiler/eval/copy.h"

#include <nlohmann/json.hpp>
#include <type_traits>
#include <vector>

#include "compiler/syntax/walk.h"

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
  return arena_.make<ast::Bound>(ast::Kind::Bound, name.span, value, name);
}

template <class T, class... Members>
T* Copier::with(const T& node, const Variables* variables, Members... members) {
  T* made = same(node);
  ((made->*members = copy(node.*members, variables)), ...);
  return made;
}

template <class T>
List<T> Copier::copy(const List<T>& list, const Variables* variables) {
  List<T> made;
  for (const T& item : list) {
    if constexpr (std::is_same_v<T, ast::Feature*>)
      made.push(arena_, copy(*item, variables));
    else
      made.push(arena_, copy(item, variables));
  }
  return made;
}

ast::StringPart Copier::copy(const ast::StringPart& part, const Variables* variables) {
  return {part.text, copy(part.value, variables), part.span};
}

ast::PathPart Copier::copy(const ast::PathPart& part, const Variables* variables) {
  return {part.name, copy(part.index, variables), part.span};
}

ast::Entry Copier::copy(const ast::Entry& entry, const Variables* variables) {
  return {entry.name, copy(entry.key, variables), copy(entry.value, variables), entry.span};
}

ast::Each Copier::copy(const ast::Each& each, const Variables* variables) {
  ast::Each made = each;
  made.list = copy(each.list, variables);
  return made;
}

ast::Expr* Copier::reference(const ast::Reference& reference, const Variables* variables) {
  const Variables* found =
      reference.parts.empty() ? nullptr : find_variable(reference.parts[0].name.text, variables);
  const expr::Value* value = found == nullptr ? nullptr : found->value;
  if (value == nullptr) {
    auto* made = with(reference, variables, &ast::Reference::parts);
    if (found != nullptr && !found->let.empty()) made->parts[0].name.text = found->let;
    return made;
  }
  ast::Bound* bound = this->bound(reference.parts[0].name, value);
  bound->span = reference.span;
  if (reference.parts.size() == 1) return bound;
  auto* select = arena_.make<ast::Select>(ast::Kind::Select, reference.span, bound);
  for (size_t i = 1; i < reference.parts.size(); ++i)
    select->parts.push(arena_, copy(reference.parts[i], variables));
  return select;
}

namespace {

// What an `each` or a comprehension sees: its own variables hide those of the same name.
class Inside {
 public:
  Inside(const ast::Each* each, const Variables* outer) : seen_(outer) {
    if (each == nullptr) return;
    first_ = {each->first.text, nullptr, outer};
    second_ = {each->second.text, nullptr, &first_};
    seen_ = each->second ? &second_ : &first_;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  const Variables* seen() const { return seen_; }

 private:
  expr::Binding first_{}, second_{};
  const Variables* seen_;
};

}  // namespace

ast::Expr* Copier::comprehension(const ast::Comprehension& made, const Variables* variables) {
  auto* copied = with(made, variables, &ast::Comprehension::each);
  const Inside inside(&made.each, variables);
  copied->element = copy(made.element, inside.seen());
  copied->condition = copy(made.condition, inside.seen());
  return copied;
}

ast::Expr* Copier::copy(const ast::Expr* value, const Variables* variables) {
  if (value == nullptr) return nullptr;
  if (auto* reference = ast::as<ast::Reference>(value)) return this->reference(*reference, variables);
  if (auto* made = ast::as<ast::Comprehension>(value)) return comprehension(*made, variables);
  if (auto* call = ast::as<ast::Call>(value)) {
    auto* made = with(*call, variables, &ast::Call::arguments, &ast::Call::named);
    const Variables* function = find_variable(call->function.text, variables);
    if (function != nullptr && !function->let.empty()) made->function.text = function->let;
    return made;
  }
  return with_members(*value, [&](const auto& node, auto... members) -> ast::Expr* {
    if constexpr (sizeof...(members) == 0)
      return const_cast<ast::Expr*>(value);  // holds no names
    else
      return with(node, variables, members...);
  });
}

ast::Name Copier::copy(const ast::Name& name, const Variables* variables) {
  const expr::Value* value = variable(name, variables);
  if (value == nullptr || value->sensitive()) return name;
  if (value->kind() != expr::Kind::String && value->kind() != expr::Kind::System) return name;
  return {arena_.copy(value->as_text()), name.span};
}

ast::Features Copier::copy(const ast::Features& features, const Variables* variables) {
  ast::Features made = features;
  made.items = copy(features.items, variables);
  return made;
}

ast::Feature* Copier::copy(const ast::Feature& feature, const Variables* variables) {
  auto* copied = with(feature, variables, &ast::Feature::named, &ast::Feature::value);
  if (feature.each) copied->each = with(*feature.each, variables, &ast::Each::list);
  const Inside inside(feature.each, variables);
  if (feature.group) copied->group = arena_.make<ast::Features>(copy(*feature.group, inside.seen()));
  return copied;
}

ast::Resource* Copier::copy(const ast::Resource* resource, const Variables* variables) {
  auto* copied = with(*resource, variables, &ast::Resource::name, &ast::Resource::body);
  if (resource->each) copied->each = with(*resource->each, variables, &ast::Each::list);
  copied->inner = copy(resource->inner, Inside(resource->each, variables).seen());
  return copied;
}

ast::Item* Copier::copy(const ast::Item& item, const Variables* variables) {
  auto* made = with(item, variables, &ast::Item::named, &ast::Item::after, &ast::Item::after_named,
                    &ast::Item::when, &ast::Item::step_of);
  const expr::Value* system = variable(item.system, variables);
  if (system != nullptr && system->kind() != expr::Kind::String) {
    made->systems = bound(item.system, system);
    made->system.text = {};
  } else {
    made->system = copy(item.system, variables);
    made->systems = copy(item.systems, variables);
  }
  if (!item.named) made->configure = copy(item.configure, variables);
  return made;
}

ast::Block* Copier::copy(const ast::Block& block, const Variables* variables) {
  using namespace ast;
  ast::Block* made = nullptr;
  if (auto* features = as<FeatureBlock>(&block)) {
    made = with(*features, variables, &FeatureBlock::body);
  } else if (auto* use = as<Use>(&block)) {
    made = with(*use, variables, &Use::body);
  } else if (auto* configure = as<Configure>(&block)) {
    made = with(*configure, variables, &Configure::resources);
  } else if (auto* deploy = as<Deploy>(&block)) {
    made = with(*deploy, variables, &Deploy::name, &Deploy::count, &Deploy::cloud, &Deploy::when);
  } else if (auto* let = as<Let>(&block)) {
    std::vector<expr::Binding> parameters(let->parameters.size());
    const Variables* inside = variables;
    for (uint32_t i = 0; i < let->parameters.size(); ++i) {
      parameters[i] = {let->parameters[i].text, nullptr, inside};
      inside = &parameters[i];
    }
    made = with(*let, inside, &Let::value);
  } else if (auto* check = as<Assert>(&block)) {
    made = with(*check, variables, &Assert::condition, &Assert::message);
  } else if (auto* moved = as<Moved>(&block)) {
    made = with(*moved, variables, &Moved::from, &Moved::to);
  } else if (auto* context = as<Contextualize>(&block)) {
    made = same(*context);
  } else {
    made = same(block);
  }
  made->named = copy(block.named, variables);
  return made;
}

}  // namespace radl
