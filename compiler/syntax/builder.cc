// Blocks and their parts; values are in builder_values.cc.
#include "compiler/syntax/builder.h"

namespace radl {
void Builder::syntax(DiagCode code, Place place, std::string message, std::string help) {
  tree_.syntax_errors = true;
  diagnostics_.report(code, at(place), std::move(message)).with_help(std::move(help));
}

ast::Expr* Builder::needs_radl2(Place place, std::string_view what) {
  tree_.syntax_errors = true;
  Span start{source_.id(), 0, 0};
  diagnostics_
      .report(DiagCode::NeedsRadl2, at(place),
              std::string(what) + " needs `radl 2` as the first line of the file")
      .fix("begin the file with `radl 2`", start, "radl 2\n");
  return error_value(place);
}

void Builder::ec3_use(ast::Ec3Use::What what, Place place, ast::Name word) {
  tree_.ec3_uses.push(tree_.arena, {what, at(place), word});
}

void Builder::add(ast::Block* block) {
  operators_ = 0;
  tree_.blocks.push(tree_.arena, block);
}

// ---- blocks
// ----------------------------------------------------------------------------------------------

void Builder::feature_block(ast::Kind kind, Place place, Place keyword, Place name, ast::Features* body) {
  auto* made = node<ast::FeatureBlock>(kind, place, word(keyword), word(name));
  if (body) made->body = *body;
  if (kind == ast::Kind::Ansible && !body)
    syntax(DiagCode::UnexpectedToken, place, "`ansible` needs its features in parentheses",
           "only network, system and configure can be references");
  if (kind == ast::Kind::Description) {
    bool first = true;
    for (const ast::Block* before : tree_.blocks) first = first && before->kind == ast::Kind::Version;
    if (!first) ec3_use(ast::Ec3Use::What::LateDescription, cover(keyword, name), made->name);
    for (const ast::Feature* feature : made->body.items) {
      const auto* value = ast::as<ast::String>(feature->value);
      if (feature->name.text == "kind" && value &&
          (value->text == "component" || value->text == "main" || value->text == "images"))
        tree_.ec3_mark = true;
    }
  }
  add(made);
}

void Builder::general(Place place, Place kind, Place name, ast::Features* body) {
  auto* made = node<ast::FeatureBlock>(ast::Kind::General, place, word(kind), word(name));
  if (body) made->body = *body;
  add(made);
  std::string_view text = made->keyword.text;
  if (text == "input" || text == "output" || text == "use") {
    needs_radl2(kind, "`" + std::string(text) + "`");
    return;
  }
  if (text == "include")
    for (const ast::Feature* feature : made->body.items) tree_.ec3_mark |= feature->name.text == "template";
  ec3_use(ast::Ec3Use::What::GeneralBlock, kind, made->keyword);
}

void Builder::configure(Place place, Place keyword, Place name, ast::Recipe* recipe,
                        List<ast::Resource*>* resources, Place body) {
  const bool has_body = !(body == place);
  auto* made = node<ast::Configure>(place, word(keyword), word(name), nullptr, has_body, recipe);
  made->body_span = at(body);
  if (resources) made->resources = *resources;
  add(made);
}

void Builder::deploy(Place place, Place keyword, Place name, ast::Expr* count, Place cloud) {
  auto* made = node<ast::Deploy>(place, word(keyword), word(name), nullptr, count);
  if (cloud.size() != 0) made->cloud = word_value(cloud);
  add(made);
}

ast::String* Builder::word_value(Place place) {
  return node<ast::String>(place, word(place).text, List<ast::StringPart>(), true);
}

void Builder::contextualize(Place place, Place keyword, ast::Number* time, ast::Contextualize* made,
                            Place body) {
  if (!made) made = node<ast::Contextualize>(place);
  made->span = at(place);
  made->keyword = word(keyword);
  made->max_time = time;
  made->body_span = at(body);
  add(made);
}

void Builder::error_block(Place place) { add(node<ast::Block>(ast::Kind::ErrorBlock, place)); }

void Builder::ec3_word(Place place) { ec3_use(ast::Ec3Use::What::KeywordAsName, place, word(place)); }

void Builder::reserved(Place place) {
  syntax(DiagCode::KeywordAsName, place,
         "`" + std::string(word(place).text) + "` is a reserved word and cannot be a name");
}

// ---- features
// -----------------------------------------------------------------------------------------------

ast::Features* Builder::list(ast::Features* list, ast::Feature* feature) {
  if (!list) list = tree_.arena.make<ast::Features>();
  list->items.push(tree_.arena, feature);
  return list;
}

ast::Features* Builder::features(Place place, ast::Features* list) {
  if (!list) list = tree_.arena.make<ast::Features>();
  list->present = true;
  list->span = at(place);
  return list;
}

ast::Feature* Builder::simple(Place place, Place name, ast::Op op, Place op_place, ast::Expr* value) {
  auto* made =
      node<ast::Feature>(place, ast::FeatureKind::Simple, op, false, word(name), at(op_place), value);
  if (made->name.text.starts_with("ec3_")) tree_.ec3_mark = true;
  operators_ = 0;
  return made;
}

ast::Feature* Builder::contains_value(Place place, Place name, Place op_place, ast::Expr* value) {
  ast::Feature* made = simple(place, name, ast::Op::Contains, op_place, value);
  ec3_use(ast::Ec3Use::What::ContainsValue, op_place, made->name);
  tree_.ec3_mark = true;
  return made;
}

ast::Feature* Builder::group(Place place, Place name, Place op_place, ast::Features* group) {
  ast::Feature* made = simple(place, name, ast::Op::Contains, op_place, nullptr);
  made->form = ast::FeatureKind::Contains;
  made->group = group;
  return made;
}

ast::Feature* Builder::soft(Place place, ast::Expr* weight, ast::Features* group) {
  auto* made = node<ast::Feature>(place, ast::FeatureKind::Soft);
  made->weight = static_cast<ast::Number*>(weight);
  made->group = group;
  return made;
}

ast::Feature* Builder::error_feature(Place place) {
  return node<ast::Feature>(place, ast::FeatureKind::Error);
}

// ---- parts of configure and contextualize
// -------------------------------------------------------------------

ast::Contextualize* Builder::option(ast::Contextualize* made, Place place, Place name, ast::Op op,
                                    ast::Expr* value) {
  if (!made) made = node<ast::Contextualize>(place);
  auto* option = node<ast::Option>(place, word(name), op, value);
  // RADL 1 takes a bare number or a string here: no unit, no list.
  const auto* number = ast::as<ast::Number>(value);
  bool plain =
      value->kind == ast::Kind::String || (number && !number->unit) || value->kind == ast::Kind::ErrorValue;
  if (!radl2() && !plain)
    syntax(DiagCode::UnexpectedToken, value->span, "an option takes a number without unit, or a string");
  if (!made->items.empty())
    syntax(DiagCode::OptionAfterItem, place,
           "`option` must come before the first `system ... configure ...`");
  made->options.push(tree_.arena, option);
  return made;
}

ast::Contextualize* Builder::item(ast::Contextualize* made, ast::Item* item) {
  if (!made) made = node<ast::Contextualize>(item ? Place(item->span) : Place(0, 0));
  if (item) made->items.push(tree_.arena, item);
  return made;
}

ast::Item* Builder::new_item(Place place, Place system, Place configure) {
  return node<ast::Item>(place, word(system), word(configure));
}

ast::Item* Builder::item_step(ast::Item* item, Place place, Place word, ast::Number* step) {
  if (!item) return item;
  if (item->step)
    syntax(DiagCode::UnexpectedToken, word, "an item has one `step`");
  else if (item->tool && !radl2())
    syntax(DiagCode::StepAndWith, word, "an item takes `step` or `with`, not both");
  item->step = step;
  item->span = at(place);
  return item;
}

ast::Item* Builder::item_tool(ast::Item* item, Place place, Place word, Place tool) {
  if (!item) return item;
  if (item->tool)
    syntax(DiagCode::UnexpectedToken, word, "an item has one `with`");
  else if (item->step && !radl2())
    syntax(DiagCode::StepAndWith, word, "an item takes `step` or `with`, not both");
  item->tool = this->word(tool);
  item->span = at(place);
  return item;
}

}  // namespace radl
