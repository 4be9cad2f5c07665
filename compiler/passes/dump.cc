// What each pass made, as text for people: `radlc compile --dump PASS`, docs/tour.md.
#include "compiler/passes/dump.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "compiler/passes/requirements.h"

namespace radl::passes {

namespace {

std::string value_text(const Build& build, const ast::Expr& value) {
  if (auto* number = ast::as<ast::Number>(&value))
    return fmt::format("{}{}", number->digits, number->unit.text);
  if (auto* text = ast::as<ast::String>(&value); text != nullptr && text->parts.empty())
    return fmt::format("'{}'", text->text);
  if (auto* list = ast::as<ast::ListValue>(&value)) {
    std::string all;
    for (const ast::Expr* item : list->items) all += (all.empty() ? "" : ", ") + value_text(build, *item);
    return "[" + all + "]";
  }
  return std::string(build.sources.text(value.span));
}

std::string features_text(const Build& build, const List<ast::Feature*>& features, int indent);

std::string feature_text(const Build& build, const ast::Feature& feature, int indent) {
  switch (feature.form) {
    case ast::FeatureKind::Simple:
      if (feature.named != nullptr)  // which may turn out to be that of a secret
        return fmt::format("{} {} (a value)", value_text(build, *feature.named), ast::op_text(feature.op));
      return fmt::format("{} {} {}", feature.name.text, ast::op_text(feature.op),
                         feature.value == nullptr               ? ""
                         : is_secret_feature(feature.name.text) ? "(a secret)"
                                                                : value_text(build, *feature.value));
    case ast::FeatureKind::Contains:
      return fmt::format("{} contains {}", feature.name.text,
                         features_text(build, feature.group->items, indent + 2));
    case ast::FeatureKind::Soft:
      return fmt::format("soft {} {}", feature.weight == nullptr ? "" : feature.weight->digits,
                         features_text(build, feature.group->items, indent + 2));
    case ast::FeatureKind::Each:
      return fmt::format("each {}{} in {} {}", feature.each->first.text,
                         feature.each->second ? fmt::format(", {}", feature.each->second.text) : "",
                         value_text(build, *feature.each->list),
                         features_text(build, feature.group->items, indent + 2));
    case ast::FeatureKind::Error:
      return "(error)";
  }
  return "";
}

std::string features_text(const Build& build, const List<ast::Feature*>& features, int indent) {
  std::string text = "(";
  bool first = true;
  for (const ast::Feature* feature : features) {
    text += fmt::format("\n{:{}}{}", "", indent, feature_text(build, *feature, indent));
    first = false;
  }
  return text + (first ? ")" : " )");
}

std::string configure_text(const Build& build, const ast::Configure& configure) {
  std::string text = fmt::format("configure {}", configure.name.text);
  if (!configure.has_body) return text;
  if (configure.recipe != nullptr)
    return fmt::format("{} ( recipe of {} bytes )", text, configure.recipe->text.size());
  text += " (";
  for (const ast::Resource* resource : configure.resources) {
    text += fmt::format("\n  {} {} {}", resource->type.text,
                        resource->name == nullptr ? "" : value_text(build, *resource->name),
                        features_text(build, resource->body.items, 4));
  }
  return text + " )";
}

std::string contextualize_text(const Build& build, const ast::Contextualize& block) {
  std::string text = "contextualize (";
  for (const ast::Option* option : block.options)
    text += fmt::format("\n  option {} = {}", option->name.text, value_text(build, *option->value));
  for (const ast::Item* item : block.items) {
    text += fmt::format("\n  system {} configure {}", item->system.text, item->configure.text);
    if (item->step != nullptr) text += fmt::format(" step {}", item->step->digits);
    if (item->tool) text += fmt::format(" with {}", item->tool.text);
    for (const ast::Name& name : item->after) text += fmt::format(" after {}", name.text);
  }
  return text + " )";
}

std::string block_text(const Build& build, const ast::Block& block) {
  if (auto* configure = ast::as<ast::Configure>(&block)) return configure_text(build, *configure);
  if (auto* contextualize = ast::as<ast::Contextualize>(&block))
    return contextualize_text(build, *contextualize);
  if (auto* deploy = ast::as<ast::Deploy>(&block)) {
    auto* word = ast::as<ast::String>(deploy->cloud);
    const std::string cloud = deploy->cloud == nullptr ? ""
                              : word && word->word     ? std::string(word->text)
                                                       : value_text(build, *deploy->cloud);
    return fmt::format("deploy {} {} {}", deploy->name.text,
                       deploy->count == nullptr ? "" : value_text(build, *deploy->count), cloud);
  }
  if (auto* use = ast::as<ast::Use>(&block)) {
    return fmt::format("use {} as {} {}", use->module == nullptr ? "" : value_text(build, *use->module),
                       use->name.text, features_text(build, use->body.items, 2));
  }
  if (auto* version = ast::as<ast::Version>(&block)) return fmt::format("radl {}", version->number);
  if (auto* feature_block = ast::as<ast::FeatureBlock>(&block)) {
    return fmt::format("{} {} {}", feature_block->keyword.text, feature_block->name.text,
                       feature_block->body.present ? features_text(build, feature_block->body.items, 2) : "");
  }
  return "(error)";
}

std::string tree_text(const Build& build, const ast::Tree& tree) {
  std::string text;
  for (const ast::Block* block : tree.blocks) {
    std::string line = block_text(build, *block);
    while (!line.empty() && line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string dump_trees(const Build& build) {
  std::string text;
  for (const auto& tree : build.trees) text += tree_text(build, *tree);
  return text;
}

std::string dump_instances(const Build& build) {
  std::string text;
  visit(static_cast<const Instance&>(*build.root), [&](const Instance& instance) {
    text += fmt::format("{}: {}\n", instance.prefix.empty() ? "program" : instance.prefix,
                        instance.trees.empty() ? "" : instance.trees.front()->source->path());
  });
  return text;
}

std::string dump_inputs(const Build& build) {
  ir::Secrets unused;
  std::string text;
  for (const auto& [name, value] : build.scopes->program_inputs(unused))
    text += fmt::format("{} = {}\n", name, value->dump());
  return text;
}

std::string dump_values(const Build& build) {
  return hir::dump(build.values, build.sources, is_secret_feature);
}

std::string dump_items(const Build& build) {
  std::string text;
  for (const BoundItem& item : build.items) {
    text += fmt::format("system {} configure {} step {} with {}\n", item.system, item.recipe, item.group,
                        ir::step_kind_name(item.kind));
  }
  return text;
}

std::string dump_steps(const Build& build) {
  std::string text;
  for (const ir::Step& step : build.steps)
    text += fmt::format("{} {} {}\n", step.id, ir::step_kind_name(step.kind), step.digest.substr(0, 12));
  return text;
}

std::string dump_order(const Build& build) {
  std::string text;
  for (const ir::Step& step : build.program.steps) {
    text += step.id + "\n";
    for (const ir::Edge& edge : step.after) text += fmt::format("  after {}: {}\n", edge.to, edge.reason);
  }
  return text;
}

// A file that is not UTF-8 is rejected, but its passes can still be dumped.
std::string dump_program(const Build& build) {
  return ir::to_json(build.program).dump(2, ' ', false, ir::Json::error_handler_t::replace) + "\n";
}

}  // namespace radl::passes
