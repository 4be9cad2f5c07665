#include "compiler/syntax/radl2_builder.h"

#include <algorithm>

#include "compiler/syntax/places.h"

namespace radl {

// ---- blocks

void Radl2Builder::version(Place place, ast::Expr* number) {
  auto* made = node<ast::Version>(place, word({place.begin, place.begin + 4}));
  const auto* value = static_cast<ast::Number*>(number);
  made->number =
      value->is_float || value->big || value->integer > 1000000 ? 0 : static_cast<int>(value->integer);
  if (made->number != 2)
    syntax(DiagCode::VersionBlock, place,
           "unknown version " + std::string(value->digits) + " of the language",
           "write `radl 2`, or nothing for RADL 1");
  else if (!tree_.blocks.empty())
    syntax(DiagCode::VersionBlock, place, "`radl 2` must be the first block");
  add(made);
}

// The string as a name, "" after a report; none when only its expansion can say what it is.
std::optional<std::string_view> Radl2Builder::plain_name(const ast::Expr* written) {
  const auto* text = ast::as<ast::String>(written);
  if (text == nullptr || !text->parts.empty()) return std::nullopt;
  auto part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9') || c == '-';
  };
  if (!text->text.empty() && std::all_of(text->text.begin(), text->text.end(), part)) return text->text;
  syntax(DiagCode::UnexpectedToken, text->span, "a name has letters, digits, `_` and `-`");
  return "";
}

// The id as it was written: a word, or a string that its expansion makes a word of.
void Radl2Builder::name_last() {
  ast::Block* block = last_block();
  if (id_ == nullptr) return;
  std::optional<std::string_view> plain = plain_name(id_);
  block->name.text = plain.value_or(std::string_view());
  block->named = plain ? nullptr : id_;
  id_ = nullptr;
}

void Radl2Builder::features_block(ast::Kind kind, Place place, Place keyword, Place name,
                                  ast::Features* body) {
  if (kind == ast::Kind::System && body != nullptr) place_features(*body);
  feature_block(kind, place, keyword, name, body);
  name_last();
}

void Radl2Builder::use_block(Place place, Place keyword, ast::Expr* module, Place name, ast::Features* body) {
  auto* made = node<ast::Use>(place, word(keyword), word(name));
  made->module = module->kind == ast::Kind::String ? static_cast<ast::String*>(module) : nullptr;
  if (!made->module) {
    made->module = node<ast::String>(module->span);
    syntax(DiagCode::UnexpectedToken, module->span, "a module is named by a string");
  }
  if (body) made->body = *body;
  add(made);
  name_last();
}

void Radl2Builder::configure_block(Place place, Place keyword, Place name, ast::Recipe* recipe,
                                   List<ast::Resource*>* resources, Place body) {
  if (resources != nullptr) refuse_lets(*resources);
  configure(place, keyword, name, recipe, resources, body);
  name_last();
}

ast::Expr* Radl2Builder::place_value(ast::Expr* value) {
  auto* name = ast::as<ast::Reference>(value);
  if (name != nullptr && name->parts.size() == 1) {
    if (name->parts[0].name.text == "none") return value;
    return word_value({value->span.begin, value->span.end});
  }
  const bool computed = name != nullptr || value->kind >= ast::Kind::Unary;
  if (!computed || value->kind == ast::Kind::MapValue || value->kind == ast::Kind::ErrorValue) return value;
  auto& report = diagnostics_.report(DiagCode::PlaceValue, value->span,
                                     "a cloud or zone is a word, or a value in quotes");
  if (const std::optional<std::string> quoted = quoted_place(*value, tree_))
    report.fix("write " + *quoted, value->span, *quoted);
  else
    report.with_help("give the value a name with `let NAME = ..`, and write '${NAME}' here");
  return value;
}

void Radl2Builder::place_features(const ast::Features& features) {
  for (ast::Feature* feature : features.items) {
    if (feature->group != nullptr && feature->form != ast::FeatureKind::Contains)
      place_features(*feature->group);
    if (feature->value != nullptr && ast::is_place(feature->name.text))
      feature->value = place_value(feature->value);
  }
}

void Radl2Builder::deploy_block(Place place, Place keyword, Place name, ast::Expr* count, ast::Expr* cloud,
                                ast::Expr* when) {
  deploy(place, keyword, name, count, {});
  auto* made = static_cast<ast::Deploy*>(last_block());
  if (cloud != nullptr) made->cloud = place_value(cloud);
  made->when = when;
  name_last();
}

// A name that expressions could not say: there the word means something else.
void Radl2Builder::readable(const ast::Name& name) {
  for (std::string_view word : {"if", "then", "else", "for", "in", "and", "or", "not"})
    if (name.text == word)
      syntax(DiagCode::KeywordAsName, name.span,
             "`" + std::string(word) + "` is a word of expressions: no value can have this name",
             "choose another name");
}

void Radl2Builder::let(Place place, Place keyword, Place name, List<ast::Name>* parameters,
                       ast::Expr* value) {
  auto* made = node<ast::Let>(place, word(keyword), word(name), nullptr, value);
  readable(made->name);
  if (parameters) made->parameters = *parameters;
  for (const ast::Name& parameter : made->parameters) {
    readable(parameter);
    for (const ast::Name& before : made->parameters) {
      if (&before == &parameter) break;
      if (before.text == parameter.text)
        syntax(DiagCode::NameClash, parameter.span,
               "two parameters are named `" + std::string(parameter.text) + "`");
    }
  }
  add(made);
}

void Radl2Builder::assertion(Place place, Place keyword, ast::Expr* condition, ast::Expr* message) {
  add(node<ast::Assert>(place, word(keyword), ast::Name(), nullptr, condition, message));
}

void Radl2Builder::moved(Place place, Place keyword, ast::Expr* from, ast::Expr* to) {
  add(node<ast::Moved>(place, word(keyword), ast::Name(), nullptr, from, to));
}

ast::Each* Radl2Builder::each(Place place, Place first, Place second, ast::Expr* list) {
  auto* made = tree_.arena.make<ast::Each>(word(first), ast::Name(), list, at(place));
  readable(made->first);
  if (second.size() != 0) readable(made->second = word(second));
  return made;
}

void Radl2Builder::begin_each() {
  outside_ = tree_.arena.make<Outside>(tree_.blocks, outside_);
  tree_.blocks = {};
}

void Radl2Builder::each_block(Place place, Place head, ast::Each* each, Place body) {
  const ast::Name keyword = word({head.begin, head.begin + 4});
  auto* made = node<ast::EachBlock>(place, keyword, ast::Name(), nullptr, *each, at(body), tree_.blocks);
  tree_.blocks = outside_->blocks;
  outside_ = outside_->before;
  for (const ast::Block* block : made->blocks) {
    bool refused = block->kind == ast::Kind::Version || block->kind == ast::Kind::Input ||
                   block->kind == ast::Kind::Description;
    if (refused)
      syntax(DiagCode::UnexpectedToken, block->keyword.span,
             "`" + std::string(block->keyword.text) + "` cannot be repeated by `each`");
    if (block->kind != ast::Kind::Let) continue;
    for (const ast::Block* before : made->blocks) {
      if (before == block) break;
      if (before->kind != ast::Kind::Let || before->name.text != block->name.text) continue;
      syntax(DiagCode::NameClash, block->name.span,
             "two values of this `each` are named `" + std::string(block->name.text) + "`");
      break;
    }
  }
  add(made);
}

// ---- features

ast::Feature* Radl2Builder::computed(Place place, Place name, ast::Expr* named, ast::Op op, Place op_place,
                                     ast::Expr* value) {
  ast::Feature* made = simple(place, name, op, op_place, value);
  auto* text = ast::as<ast::String>(named);
  made->name.text = text != nullptr && text->parts.empty() ? text->text : std::string_view();
  if (!made->name) made->named = named;
  return made;
}

ast::Feature* Radl2Builder::each_feature(Place place, ast::Each* each, ast::Features* inner, Place body) {
  auto* made = node<ast::Feature>(place, ast::FeatureKind::Each);
  made->each = each;
  made->group = inner;
  inner->items = within_lets(inner->items);
  inner->present = true;
  inner->span = at(body);
  return made;
}

ast::Feature* Radl2Builder::let_feature(Place place, Place name, ast::Expr* value) {
  auto* made = node<ast::Feature>(place, ast::FeatureKind::Each);
  made->each = let_each(place, name, value);
  made->group = features(place, nullptr);
  return made;
}

ast::Features* Radl2Builder::features_of_body(Place place, ast::Features* list) {
  refuse_lets(list->items);
  return features(place, list);
}

// ---- parts of configure and contextualize

ast::Resource* Radl2Builder::resource_of(Place place, Place type, ast::Expr* name, ast::Features* body) {
  auto* made = node<ast::Resource>(place, word(type), name);
  if (body) made->body = *body;
  return made;
}

ast::Resource* Radl2Builder::each_resource(Place place, ast::Each* each, List<ast::Resource*>* inner) {
  auto* made = node<ast::Resource>(place);
  made->each = each;
  if (inner) made->inner = within_lets(*inner);
  return made;
}

ast::Resource* Radl2Builder::let_resource(Place place, Place name, ast::Expr* value) {
  auto* made = node<ast::Resource>(place);
  made->each = let_each(place, name, value);
  return made;
}

ast::Item* Radl2Builder::let_item(Place place, Place name, ast::Expr* value) {
  auto* made = node<ast::Item>(place);
  made->each = let_each(place, name, value);
  return made;
}

ast::Each* Radl2Builder::let_each(Place place, Place name, ast::Expr* value) {
  ast::Each* made =
      each(place, name, {}, list_value({value->span.begin, value->span.end}, items(nullptr, value)));
  made->let = true;
  return made;
}

namespace {

List<ast::Feature*>& inside(ast::Feature& each) { return each.group->items; }
List<ast::Resource*>& inside(ast::Resource& each) { return each.inner; }
List<ast::Item*>& inside(ast::Item& each) { return each.inner; }

}  // namespace

// The `let`s around all other entries of an `each`: each of them sees all, and a `let` those before it.
template <class Entry>
List<Entry*> Radl2Builder::within_lets(const List<Entry*>& entries) {
  List<Entry*> rest, lets;
  for (Entry* entry : entries) {
    const bool let = entry->each != nullptr && entry->each->let;
    (let ? lets : rest).push(tree_.arena, entry);
    if (!let) continue;
    for (const Entry* before : lets)
      if (before != entry && before->each->first.text == entry->each->first.text)
        syntax(DiagCode::NameClash, entry->each->first.span,
               "two values of this `each` are named `" + std::string(entry->each->first.text) + "`");
  }
  for (uint32_t i = lets.size(); i > 0; --i) {
    Entry* let = lets[i - 1];
    inside(*let) = rest;
    for (const Entry* inner : rest) let->span = cover(let->span, inner->span);
    rest = {};
    rest.push(tree_.arena, let);
  }
  return rest;
}

template <class Entry>
void Radl2Builder::refuse_lets(const List<Entry*>& entries) {
  for (const Entry* entry : entries)
    if (entry->each != nullptr && entry->each->let)
      syntax(DiagCode::UnexpectedToken, entry->each->span,
             "a `let` belongs in an `each`, or at the top level of the file",
             "move it out of all other blocks, to the top level of the file");
}

void Radl2Builder::contextualize_items(Place place, Place keyword, ast::Number* time,
                                       ast::Contextualize* items, Place body) {
  refuse_lets(items->items);
  contextualize(place, keyword, time, items, body);
}

List<ast::Resource*>* Radl2Builder::add_resource(List<ast::Resource*>* list, ast::Resource* resource) {
  if (!list) list = tree_.arena.make<List<ast::Resource*>>();
  if (resource) list->push(tree_.arena, resource);
  return list;
}

List<ast::Name>* Radl2Builder::name_list(List<ast::Name>* list, Place name) {
  if (!list) list = tree_.arena.make<List<ast::Name>>();
  list->push(tree_.arena, word(name));
  return list;
}

void Radl2Builder::take_name(Place name, bool first) {
  if (first) taken_ = nullptr;
  taken_ = name_list(taken_, name);
}

List<ast::Name>* Radl2Builder::computed_recipe(ast::Expr* name) {
  auto* made = tree_.arena.make<List<ast::Name>>();
  std::optional<std::string_view> plain = plain_name(name);
  made->push(tree_.arena, {plain.value_or(std::string_view()), name->span});
  recipe_ = plain ? nullptr : name;
  return made;
}

ast::Item* Radl2Builder::targets(Place place, List<ast::Name>* systems, ast::Expr* computed,
                                 List<ast::Name>* configures) {
  ast::Item* first = nullptr;
  List<ast::Name> none;
  none.push(tree_.arena, {});
  for (const ast::Name& configure : *configures) {
    if (!configure && !recipe_) continue;  // reported
    for (const ast::Name& system : systems ? *systems : none) {
      auto* made = node<ast::Item>(place, system, configure);
      made->systems = computed;
      made->named = recipe_;
      if (first)
        first->inner.push(tree_.arena, made);
      else
        first = made;
    }
  }
  recipe_ = nullptr;
  return first;
}

ast::Item* Radl2Builder::after_name(ast::Item* names, Place name) {
  if (!names) names = node<ast::Item>(name);
  names->after.push(tree_.arena, word(name));
  return names;
}

ast::Item* Radl2Builder::after_computed(ast::Item* names, Place place, ast::Expr* name) {
  if (!names) names = node<ast::Item>(place);
  if (std::optional<std::string_view> plain = plain_name(name); !plain)
    names->after_named.push(tree_.arena, name);
  else if (!plain->empty())
    names->after.push(tree_.arena, {*plain, name->span});
  return names;
}

ast::Item* Radl2Builder::item_after_all(ast::Item* item, Place place, ast::Item* names) {
  if (!item) return item;
  for (const ast::Name& name : names->after) item->after.push(tree_.arena, name);
  for (ast::Expr* name : names->after_named) item->after_named.push(tree_.arena, name);
  item->span = at(place);
  return item;
}

ast::Item* Radl2Builder::item_step_of(ast::Item* item, Place place, Place word, ast::Expr* step) {
  if (!item) return item;
  if (step->kind == ast::Kind::Number && !item->step_of) {
    auto* number = static_cast<ast::Number*>(step);
    if (!number->unit) return item_step(item, place, word, number);
  }
  if (item->step || item->step_of) syntax(DiagCode::UnexpectedToken, word, "an item has one `step`");
  item->step_of = step;
  item->span = at(place);
  return item;
}

ast::Item* Radl2Builder::item_when(ast::Item* item, Place place, Place word, ast::Expr* condition) {
  if (!item) return item;
  if (item->when) syntax(DiagCode::UnexpectedToken, word, "an item has one `when`");
  item->when = condition;
  item->span = at(place);
  return item;
}

ast::Item* Radl2Builder::each_item(Place place, ast::Each* each, ast::Contextualize* inner) {
  auto* made = node<ast::Item>(place);
  made->each = each;
  made->inner = within_lets(inner->items);
  if (!inner->options.empty())
    syntax(DiagCode::UnexpectedToken, inner->options[0]->span, "an option cannot be repeated by `each`");
  return made;
}

// Applies the clauses after an item with lists to all items that it expands to.
ast::Contextualize* Radl2Builder::add_item(ast::Contextualize* made, ast::Item* item) {
  made = Builder::item(made, item);
  if (!item || item->each) return made;
  for (ast::Item* other : item->inner) {
    other->step = item->step;
    other->step_of = item->step_of;
    other->tool = item->tool;
    other->after = item->after;
    other->after_named = item->after_named;
    other->when = item->when;
    other->span = item->span;
    made = Builder::item(made, other);
  }
  item->inner = {};
  return made;
}

}  // namespace radl
