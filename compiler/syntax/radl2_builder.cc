#include "compiler/syntax/radl2_builder.h"

#include <algorithm>

namespace radl {

// ---- blocks

// The id as it was written: a word, or a string that its expansion makes a word of.
void Radl2Builder::name_last() {
  ast::Block* block = last_block();
  if (id_ == nullptr) return;
  block->named = id_;
  const auto* text = ast::as<ast::String>(id_);
  if (text != nullptr && text->parts.empty()) {
    auto part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9') ||
             c == '-';
    };
    if (text->text.empty() || !std::all_of(text->text.begin(), text->text.end(), part))
      syntax(DiagCode::UnexpectedToken, text->span, "a name has letters, digits, `_` and `-`");
    block->name.text = text->text;
    block->named = nullptr;
  } else {
    block->name.text = {};
  }
  id_ = nullptr;
}

void Radl2Builder::features_block(ast::Kind kind, Place place, Place keyword, Place name,
                                  ast::Features* body) {
  feature_block(kind, place, keyword, name, body);
  name_last();
}

void Radl2Builder::use_block(Place place, Place keyword, ast::Expr* module, Place name, ast::Features* body) {
  ast::Expr* id = id_;
  use(place, keyword, module, name, body);
  id_ = id;
  name_last();
}

void Radl2Builder::configure_block(Place place, Place keyword, Place name, ast::Recipe* recipe,
                                   List<ast::Resource*>* resources, Place body) {
  configure(place, keyword, name, recipe, resources, body);
  name_last();
}

void Radl2Builder::deploy_block(Place place, Place keyword, Place name, ast::Expr* count, Place cloud,
                                ast::Expr* when) {
  deploy(place, keyword, name, count, cloud);
  static_cast<ast::Deploy*>(last_block())->when = when;
  name_last();
}

void Radl2Builder::let(Place place, Place keyword, Place name, ast::Expr* value) {
  auto* made = node<ast::Let>(ast::Kind::Let, place);
  made->keyword = word(keyword);
  made->name = word(name);
  made->value = value;
  add(made);
}

void Radl2Builder::assertion(Place place, Place keyword, ast::Expr* condition, ast::Expr* message) {
  auto* made = node<ast::Assert>(ast::Kind::Assert, place);
  made->keyword = word(keyword);
  made->condition = condition;
  made->message = message;
  add(made);
}

ast::Each* Radl2Builder::each(Place place, Place first, Place second, ast::Expr* list) {
  auto* made = tree_.arena.make<ast::Each>();
  made->first = word(first);
  if (second.size() != 0) made->second = word(second);
  made->list = list;
  made->span = at(place);
  return made;
}

void Radl2Builder::begin_each() {
  outside_ = tree_.arena.make<Outside>(tree_.blocks, outside_);
  tree_.blocks = {};
}

void Radl2Builder::each_block(Place place, Place head, ast::Each* each, Place body) {
  auto* made = node<ast::EachBlock>(ast::Kind::Each, place);
  made->keyword = word({head.begin, head.begin + 4});
  made->each = *each;
  made->body_span = at(body);
  made->blocks = tree_.blocks;
  tree_.blocks = outside_->blocks;
  outside_ = outside_->before;
  for (const ast::Block* block : made->blocks) {
    bool refused = block->kind == ast::Kind::Version || block->kind == ast::Kind::Input ||
                   block->kind == ast::Kind::Let || block->kind == ast::Kind::Description;
    if (refused)
      syntax(DiagCode::UnexpectedToken, block->keyword.span,
             "`" + std::string(block->keyword.text) + "` cannot be repeated by `each`");
  }
  add(made);
}

// ---- values

ast::Expr* Radl2Builder::member_of(Place place, ast::Expr* base, Place name) {
  if (base->kind == ast::Kind::Reference) return member(place, base, name);
  if (base->kind == ast::Kind::ErrorValue) return base;
  ast::Name word = this->word(name);
  if (word.text.size() < 2 || word.text.ends_with('.')) {
    syntax(DiagCode::UnexpectedToken, name, "`.` with no name behind it");
    return error_value(place);
  }
  auto* select = base->kind == ast::Kind::Select ? static_cast<ast::Select*>(base)
                                                 : node<ast::Select>(ast::Kind::Select, place);
  if (select != base) select->base = base;
  select->span = at(place);
  split_path(select->parts, word);
  return select;
}

ast::Expr* Radl2Builder::element_of(Place place, ast::Expr* base, ast::Expr* index, Place brackets) {
  if (base->kind == ast::Kind::Reference) return this->index(place, base, index, brackets);
  if (base->kind == ast::Kind::ErrorValue || too_long(brackets)) return base;
  auto* select = base->kind == ast::Kind::Select ? static_cast<ast::Select*>(base)
                                                 : node<ast::Select>(ast::Kind::Select, place);
  if (select != base) select->base = base;
  select->span = at(place);
  select->parts.push(tree_.arena, {{}, index, at(brackets)});
  return select;
}

ast::Call* Radl2Builder::argument(ast::Call* call, ast::Expr* value) {
  if (!call) call = tree_.arena.make<ast::Call>();
  call->arguments.push(tree_.arena, value);
  return call;
}

ast::Call* Radl2Builder::named_argument(ast::Call* call, Place place, Place name, ast::Expr* value) {
  if (!call) call = tree_.arena.make<ast::Call>();
  call->named.push(tree_.arena, {word(name), nullptr, value, at(place)});
  return call;
}

ast::Expr* Radl2Builder::call_value(Place place, Place function, ast::Call* call) {
  if (!call) call = tree_.arena.make<ast::Call>();
  call->kind = ast::Kind::Call;
  call->span = at(place);
  call->function = word(function);
  return too_long(function) ? error_value(place) : call;
}

ast::Expr* Radl2Builder::list_made(Place place, ast::Expr* value, ast::Each* each, ast::Expr* condition) {
  auto* made = node<ast::Comprehension>(ast::Kind::Comprehension, place);
  made->element.value = value;
  made->each = *each;
  made->condition = condition;
  return made;
}

ast::Entry* Radl2Builder::entry(Place place, Place name, ast::Expr* key, ast::Expr* value) {
  return tree_.arena.make<ast::Entry>(key ? ast::Name{} : word(name), key, value, at(place));
}

ast::MapValue* Radl2Builder::map_entry(ast::MapValue* map, ast::Entry* entry) {
  if (!map) map = tree_.arena.make<ast::MapValue>();
  map->entries.push(tree_.arena, *entry);
  return map;
}

ast::Expr* Radl2Builder::map_value(Place place, ast::MapValue* map) {
  if (!map) map = tree_.arena.make<ast::MapValue>();
  map->kind = ast::Kind::MapValue;
  map->span = at(place);
  return map;
}

ast::Expr* Radl2Builder::map_made(Place place, ast::Entry* entry, ast::Each* each, ast::Expr* condition) {
  auto* made = static_cast<ast::Comprehension*>(list_made(place, nullptr, each, condition));
  made->makes_map = true;
  made->element = *entry;
  return made;
}

namespace {

// The least indentation of the lines of a block of text that hold more than spaces.
size_t indentation(std::string_view content) {
  size_t least = std::string_view::npos;
  while (!content.empty()) {
    size_t end = std::min(content.find('\n'), content.size() - 1);
    std::string_view line = content.substr(0, end + 1);
    size_t begin = line.find_first_not_of(" \t");
    if (begin != line.npos && line[begin] != '\n') least = std::min(least, begin);
    content.remove_prefix(end + 1);
  }
  return least == std::string_view::npos ? 0 : least;
}

// Takes it away at the beginning of each line; `fresh`: the text begins one.
std::string unindented(std::string_view text, size_t indent, bool fresh) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (fresh) {
      size_t end = at;
      while (end < text.size() && end - at < indent && (text[end] == ' ' || text[end] == '\t')) ++end;
      at = end;
    }
    size_t newline = text.find('\n', at);
    size_t end = newline == text.npos ? text.size() : newline + 1;
    out += text.substr(at, end - at);
    fresh = newline != text.npos;
    at = end;
  }
  return out;
}

}  // namespace

ast::Expr* Radl2Builder::text_value(Place place, Place begin, ast::String* text) {
  std::string_view mark = source_.text(at(begin));
  if (mark.starts_with("<<")) {
    uint32_t first = begin.end, last = place.end;
    std::string_view bytes = source_.text({source_.id(), first, last});
    size_t closing = bytes.rfind('\n');
    std::string_view content = closing == bytes.npos ? std::string_view() : bytes.substr(0, closing + 1);
    size_t indent = indentation(content);
    bool fresh = true;
    for (ast::StringPart& part : text->parts) {
      if (part.value == nullptr) {
        std::string made = unindented(part.text, indent, fresh);
        fresh = part.text.ends_with('\n');
        part.text = tree_.arena.copy(made);
      } else {
        fresh = false;
      }
    }
  }
  return template_value(place, text);
}

ast::Expr* Radl2Builder::template_value(Place place, ast::String* text) {
  bool plain =
      std::all_of(text->parts.begin(), text->parts.end(), [](const ast::StringPart& p) { return !p.value; });
  if (plain) {
    text->text = text->parts.empty() ? std::string_view() : text->parts[0].text;
    text->parts = {};
  }
  return finish_text(place, text);
}

// ---- parts of configure and contextualize

ast::Resource* Radl2Builder::resource_of(Place place, Place type, ast::Expr* name, ast::Features* body) {
  auto* made = node<ast::Resource>(ast::Kind::Resource, place);
  made->type = word(type);
  made->name = name;
  if (body) made->body = *body;
  return made;
}

ast::Resource* Radl2Builder::each_resource(Place place, ast::Each* each, List<ast::Resource*>* inner) {
  auto* made = node<ast::Resource>(ast::Kind::Resource, place);
  made->each = each;
  if (inner) made->inner = *inner;
  return made;
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

ast::Item* Radl2Builder::targets(Place place, List<ast::Name>* systems, ast::Expr* computed,
                                 List<ast::Name>* configures) {
  ast::Item* first = nullptr;
  List<ast::Name> none;
  none.push(tree_.arena, {});
  for (const ast::Name& configure : *configures) {
    for (const ast::Name& system : systems ? *systems : none) {
      auto* made = node<ast::Item>(ast::Kind::Item, place);
      made->system = system;
      made->systems = computed;
      made->configure = configure;
      if (first)
        first->inner.push(tree_.arena, made);
      else
        first = made;
    }
  }
  return first;
}

ast::Item* Radl2Builder::after_name(ast::Item* names, Place name) {
  if (!names) names = node<ast::Item>(ast::Kind::Item, name);
  names->after.push(tree_.arena, word(name));
  return names;
}

ast::Item* Radl2Builder::item_after_all(ast::Item* item, Place place, ast::Item* names) {
  if (!item) return item;
  for (const ast::Name& name : names->after) item->after.push(tree_.arena, name);
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
  auto* made = node<ast::Item>(ast::Kind::Item, place);
  made->each = each;
  made->inner = inner->items;
  if (!inner->options.empty())
    syntax(DiagCode::UnexpectedToken, inner->options[0]->span, "an option cannot be repeated by `each`");
  return made;
}

// The items that one with lists stands for get what was said behind it.
ast::Contextualize* Radl2Builder::add_item(ast::Contextualize* made, ast::Item* item) {
  made = Builder::item(made, item);
  if (!item || item->each) return made;
  for (ast::Item* other : item->inner) {
    other->step = item->step;
    other->tool = item->tool;
    other->after = item->after;
    other->when = item->when;
    other->span = item->span;
    made = Builder::item(made, other);
  }
  item->inner = {};
  return made;
}

}  // namespace radl
