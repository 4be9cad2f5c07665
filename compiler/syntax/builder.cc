// Sentences and their parts; values are in builder_values.cc.
#include "compiler/syntax/builder.h"

#include "common/text.h"

namespace radl {
namespace {

template <class T>
T* node(ast::Tree& tree, ast::Kind kind, Span span) {
  T* made = tree.arena.make<T>();
  made->kind = kind;
  made->span = span;
  return made;
}

constexpr std::string_view kSentences[] = {"network",       "system",  "configure",  "deploy",
                                           "contextualize", "ansible", "description"};
constexpr std::string_view kSentences2[] = {"network", "system",      "configure", "deploy", "contextualize",
                                            "ansible", "description", "input",     "output", "use"};

}  // namespace

void Builder::syntax(DiagCode code, Span span, std::string message, std::string help) {
  tree_.syntax_errors = true;
  diagnostics_.report(code, span, std::move(message)).with_help(std::move(help));
}

bool Builder::needs_radl2(Span span, std::string_view what) {
  if (radl2()) return true;
  tree_.syntax_errors = true;
  Span start{source_.id(), 0, 0};
  diagnostics_
      .report(DiagCode::NeedsRadl2, span, std::string(what) + " needs `radl 2` as the first line of the file")
      .fix("begin the file with `radl 2`", start, "radl 2\n");
  return false;
}

void Builder::ec3_use(ast::Ec3Use::What what, Span span, ast::Name word) {
  tree_.ec3_uses.push(tree_.arena, {what, span, word});
}

void Builder::add(ast::Sentence* sentence) { tree_.sentences.push(tree_.arena, sentence); }

// ---- sentences
// ----------------------------------------------------------------------------------------------

void Builder::version(Span span, ast::Expr* number) {
  auto* made = node<ast::Version>(tree_, ast::Kind::Version, span);
  const auto* value = static_cast<ast::Number*>(number);
  made->keyword = word({span.file, span.begin, span.begin + 4});
  made->number =
      value->is_float || value->big || value->integer > 1000000 ? 0 : static_cast<int>(value->integer);
  if (made->number != 2)
    syntax(DiagCode::VersionSentence, span,
           "there is no version " + std::string(value->digits) + " of the language",
           "write `radl 2`, or nothing for RADL 1");
  else if (!tree_.sentences.empty())
    syntax(DiagCode::VersionSentence, span, "`radl 2` stands in front of all other sentences");
  add(made);
}

void Builder::block(ast::Kind kind, Span span, Span keyword, ast::Name name, ast::Features* body) {
  auto* made = node<ast::Block>(tree_, kind, span);
  made->keyword = word(keyword);
  made->name = name;
  if (body) made->body = *body;
  if (kind == ast::Kind::Ansible && !body)
    syntax(DiagCode::UnexpectedToken, span, "`ansible` needs its features in parentheses",
           "only network, system and configure can be references");
  if (kind == ast::Kind::Description) {
    bool first = true;
    for (const ast::Sentence* before : tree_.sentences) first = first && before->kind == ast::Kind::Version;
    if (!first) ec3_use(ast::Ec3Use::What::LateDescription, cover(keyword, name.span), name);
    for (const ast::Feature* feature : made->body.items) {
      const auto* value = ast::as<ast::String>(feature->value);
      if (feature->name.text == "kind" && value &&
          (value->text == "component" || value->text == "main" || value->text == "images"))
        tree_.ec3_mark = true;
    }
  }
  add(made);
}

void Builder::general(Span span, ast::Name kind, ast::Name name, ast::Features* body) {
  auto* made = node<ast::Block>(tree_, ast::Kind::General, span);
  made->keyword = kind;
  made->name = name;
  if (body) made->body = *body;
  add(made);
  std::string_view text = kind.text;
  if (!radl2() && (text == "input" || text == "output" || text == "use")) {
    needs_radl2(kind.span, "`" + std::string(text) + "`");
    return;
  }
  if (!radl2()) {
    if (text == "include")
      for (const ast::Feature* feature : made->body.items) tree_.ec3_mark |= feature->name.text == "template";
    ec3_use(ast::Ec3Use::What::GeneralSentence, kind.span, kind);
    return;
  }
  std::string message = "there is no sentence `" + std::string(text) + "`";
  tree_.syntax_errors = true;
  Diagnostic& d = diagnostics_.report(DiagCode::UnknownSentence, kind.span, message);
  if (auto near = nearest_name(text, kSentences2))
    d.fix("write `" + std::string(*near) + "`", kind.span, std::string(*near));
}

void Builder::use(Span span, Span keyword, ast::Expr* module, ast::Name name, ast::Features* body) {
  auto* made = node<ast::Use>(tree_, ast::Kind::Use, span);
  made->keyword = word(keyword);
  made->name = name;
  made->module = module->kind == ast::Kind::String ? static_cast<ast::String*>(module) : nullptr;
  if (!made->module) {
    made->module = node<ast::String>(tree_, ast::Kind::String, module->span);
    syntax(DiagCode::UnexpectedToken, module->span, "a module is named by a text");
  }
  if (body) made->body = *body;
  add(made);
}

void Builder::configure(Span span, Span keyword, ast::Name name, ast::Recipe* recipe,
                        List<ast::Resource*>* resources, Span body) {
  auto* made = node<ast::Configure>(tree_, ast::Kind::Configure, span);
  made->keyword = word(keyword);
  made->name = name;
  made->has_body = body != span;
  made->recipe = recipe;
  made->body_span = body;
  if (resources) made->resources = *resources;
  if (!made->resources.empty()) needs_radl2(made->resources[0]->span, "a native recipe");
  add(made);
}

void Builder::deploy(Span span, Span keyword, ast::Name name, ast::Expr* count, ast::Name cloud) {
  auto* made = node<ast::Deploy>(tree_, ast::Kind::Deploy, span);
  made->keyword = word(keyword);
  made->name = name;
  made->count = count;
  made->cloud = cloud;
  add(made);
}

void Builder::contextualize(Span span, Span keyword, ast::Number* time, ast::Contextualize* made, Span body) {
  if (!made) made = node<ast::Contextualize>(tree_, ast::Kind::Contextualize, span);
  made->span = span;
  made->keyword = word(keyword);
  made->max_time = time;
  made->body_span = body;
  add(made);
}

void Builder::error_sentence(Span span) { add(node<ast::Sentence>(tree_, ast::Kind::ErrorSentence, span)); }

ast::Name Builder::ec3_word(Span span) {
  ast::Name name = word(span);
  ec3_use(ast::Ec3Use::What::KeywordAsName, span, name);
  return name;
}

ast::Name Builder::feature_word(Span span) { return radl2() ? word(span) : ec3_word(span); }

ast::Name Builder::reserved(ast::Name name) {
  syntax(DiagCode::KeywordAsName, name.span,
         "`" + std::string(name.text) + "` is a reserved word and cannot be a name");
  return name;
}

// ---- features
// -----------------------------------------------------------------------------------------------

ast::Features* Builder::list(ast::Features* list, ast::Feature* feature) {
  if (!list) list = tree_.arena.make<ast::Features>();
  list->items.push(tree_.arena, feature);
  return list;
}

ast::Features* Builder::features(Span span, ast::Features* list) {
  if (!list) list = tree_.arena.make<ast::Features>();
  list->present = true;
  list->span = span;
  return list;
}

ast::Feature* Builder::simple(Span span, ast::Name name, ast::Op op, Span op_span, ast::Expr* value) {
  auto* made = node<ast::Feature>(tree_, ast::Kind::Feature, span);
  made->form = ast::FeatureKind::Simple;
  made->op = op;
  made->name = name;
  made->op_span = op_span;
  made->value = value;
  if (name.text.starts_with("ec3_")) tree_.ec3_mark = true;
  operators_ = 0;
  return made;
}

ast::Feature* Builder::contains_value(Span span, ast::Name name, Span op_span, ast::Expr* value) {
  ast::Feature* made = simple(span, name, ast::Op::Contains, op_span, value);
  ec3_use(ast::Ec3Use::What::ContainsValue, op_span, name);
  tree_.ec3_mark = true;
  return made;
}

ast::Feature* Builder::group(Span span, ast::Name name, Span op_span, ast::Features* group) {
  ast::Feature* made = simple(span, name, ast::Op::Contains, op_span, nullptr);
  made->form = ast::FeatureKind::Contains;
  made->group = group;
  return made;
}

ast::Feature* Builder::soft(Span span, ast::Expr* weight, ast::Features* group) {
  auto* made = node<ast::Feature>(tree_, ast::Kind::Feature, span);
  made->form = ast::FeatureKind::Soft;
  made->weight = static_cast<ast::Number*>(weight);
  made->group = group;
  return made;
}

ast::Feature* Builder::error_feature(Span span) {
  auto* made = node<ast::Feature>(tree_, ast::Kind::Feature, span);
  made->form = ast::FeatureKind::Error;
  return made;
}

// ---- parts of configure and contextualize
// -------------------------------------------------------------------

List<ast::Resource*>* Builder::resource(List<ast::Resource*>* list, Span span, ast::Name type,
                                        ast::Expr* name, ast::Features* body) {
  if (!list) list = tree_.arena.make<List<ast::Resource*>>();
  if (!name) return list;  // an error
  auto* made = node<ast::Resource>(tree_, ast::Kind::Resource, span);
  made->type = type;
  made->name = name;
  made->body = *body;
  list->push(tree_.arena, made);
  return list;
}

ast::Contextualize* Builder::option(ast::Contextualize* made, Span span, ast::Name name, ast::Op op,
                                    ast::Expr* value) {
  if (!made) made = node<ast::Contextualize>(tree_, ast::Kind::Contextualize, span);
  auto* option = node<ast::Option>(tree_, ast::Kind::Option, span);
  option->name = name;
  option->op = op;
  option->value = value;
  // RADL 1 takes a bare number or a text here: no unit, no list.
  const auto* number = ast::as<ast::Number>(value);
  bool plain =
      value->kind == ast::Kind::String || (number && !number->unit) || value->kind == ast::Kind::ErrorValue;
  if (!radl2() && !plain)
    syntax(DiagCode::UnexpectedToken, value->span, "an option takes a number without unit, or a text");
  if (!made->items.empty())
    syntax(DiagCode::OptionAfterItem, span, "an option stands before the first `system ... configure ...`");
  made->options.push(tree_.arena, option);
  return made;
}

ast::Contextualize* Builder::item(ast::Contextualize* made, ast::Item* item) {
  if (!made) made = node<ast::Contextualize>(tree_, ast::Kind::Contextualize, item ? item->span : Span{});
  if (item) made->items.push(tree_.arena, item);
  return made;
}

ast::Item* Builder::new_item(Span span, ast::Name system, ast::Name configure) {
  auto* made = node<ast::Item>(tree_, ast::Kind::Item, span);
  made->system = system;
  made->configure = configure;
  return made;
}

ast::Item* Builder::item_step(ast::Item* item, Span span, Span word, ast::Number* step) {
  if (item->step)
    syntax(DiagCode::UnexpectedToken, word, "an item has one `step`");
  else if (item->tool && !radl2())
    syntax(DiagCode::StepAndWith, word, "an item takes `step` or `with`, not both");
  item->step = step;
  item->span = span;
  return item;
}

ast::Item* Builder::item_tool(ast::Item* item, Span span, Span word, ast::Name tool) {
  if (item->tool)
    syntax(DiagCode::UnexpectedToken, word, "an item has one `with`");
  else if (item->step && !radl2())
    syntax(DiagCode::StepAndWith, word, "an item takes `step` or `with`, not both");
  item->tool = tool;
  item->span = span;
  return item;
}

ast::Item* Builder::item_after(ast::Item* item, Span span, ast::Name name) {
  item->after.push(tree_.arena, name);
  item->span = span;
  return item;
}

ast::Item* Builder::item_after_more(ast::Item* item, Span span, Span comma, ast::Name name) {
  if (item->after.empty()) {
    syntax(DiagCode::UnexpectedToken, comma, "unexpected `,`");
    return item;
  }
  return item_after(item, span, name);
}

}  // namespace radl
