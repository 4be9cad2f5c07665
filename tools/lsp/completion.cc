// What could be written at the cursor.
#include <algorithm>
#include <set>

#include "compiler/resources/resource_schema.h"
#include "compiler/syntax/walk.h"
#include "compiler/syntax/words.h"
#include "tools/lsp/completer.h"

namespace radl::lsp {
namespace {

// Includes items that an `each` repeats; 0 without any.
int last_step(const List<ast::Item*>& items) {
  int most = 0;
  for (const ast::Item* item : items) {
    if (item->step && !item->step->big && item->step->integer < 1000)
      most = std::max(most, static_cast<int>(item->step->integer));
    most = std::max(most, last_step(item->inner));
  }
  return most;
}

// The tables' snippets join features with `and`, as RADL 1 does; lines and commas separate those of `radl 2`.
std::string without_and(std::string_view snippet) {
  constexpr std::string_view kAnd = " and";
  std::string out;
  for (size_t at = snippet.find(kAnd); at != snippet.npos; at = snippet.find(kAnd)) {
    out += snippet.substr(0, at);
    snippet.remove_prefix(at + kAnd.size());
    if (!snippet.starts_with('\n')) out += ",";
  }
  return out += snippet;
}

}  // namespace

Json Completer::run() {
  offer();
  return {{"isIncomplete", false}, {"items", std::move(items_)}};
}

void Completer::offer() {
  switch (cursor_.place) {
    case Place::Block:
      return blocks();
    case Place::FeatureName:
      return feature_names();
    case Place::Comparator:
      return comparators();
    case Place::Value:
      return values();
    case Place::BehindValue:
      return behind_value();
    case Place::RecipeBody:
      return recipe_body();
    case Place::Words:
      return words();
    case Place::OptionName:
      return void(
          add("ansible_version", kProperty, "string", "The version of Ansible that runs the recipes."));
    case Place::SystemName:
    case Place::DeploySystem:
      return names(Space::System, kClass);
    case Place::ConfigureName:
      return names(Space::Configure, kFunction);
    case Place::NetworkName:
      return names(Space::Network, kInterface);
    case Place::ToolName:
      add("Ansible", kValue, "", "The recipe runs through Ansible once the node is reachable.");
      add("cloud_init", kValue, "", "The recipe's text goes to the node's user data when it is created.");
      return;
    case Place::StepNumber:
      return steps();
    case Place::Expression:
      if (cursor_.radl2) expressions();
      return;
    case Place::DeployCloud:
      return behind_dot() ? expressions() : clouds();
    case Place::ModulePath:
      return module_paths();
    case Place::Recipe:
      return recipe_words();
    case Place::ResourceName:
      if (behind_dot()) expressions();  // `user u.name`
      return;
    case Place::None:
      return;
  }
}

void Completer::add_snippet(std::string_view label, ItemKind kind, std::string_view doc,
                            std::string_view snippet) {
  Json& item = add(label, kind, "", doc, std::string(snippet));
  item["insertTextFormat"] = 2;
  item["filterText"] = label;
}

void Completer::words() {
  for (const GrammarWord& word : cursor_.radl2 ? radl2_words() : radl1_words())
    if (cursor_.expects(word.text) && (!word.begins_block || cursor_.place == Place::Words))
      add(word.text, kKeyword, "", "");
}

void Completer::blocks() {
  for (const BlockWord& word : block_words()) {
    const bool first = !cursor_.radl2 && query_.analysis->tree->blocks.empty();  // it makes the file `radl 2`
    if (word.name == "radl" ? !first : !cursor_.expects(word.name)) continue;
    add_snippet(word.name, kKeyword, word.doc,
                cursor_.radl2 ? without_and(word.snippet) : std::string(word.snippet));
  }
}

void Completer::feature_names() {
  if (cursor_.owner.starts_with("use ")) return module_inputs();
  for (const Word& word : features_of(cursor_.owner)) {
    if (word.radl2 && !cursor_.radl2) continue;
    for (const std::string& name : with_indices(word.name)) {
      bool again = word.group || word.number;
      if (!again &&
          std::find(cursor_.features.begin(), cursor_.features.end(), name) != cursor_.features.end())
        continue;
      std::string text = name + (word.group              ? " contains (name = '$1')"
                                 : word.number           ? " >= $1"
                                 : word.kind == "string" ? " = '$1'"
                                                         : " = $1");
      Json& item = add(name, kProperty, word.kind + (word.required ? ", required" : ""), word.doc, text);
      item["insertTextFormat"] = 2;
      item["filterText"] = name;
      if (word.required) item["preselect"] = true;
    }
  }
  if (cursor_.owner == "system" && cursor_.expects("soft"))
    add_snippet("soft", kKeyword, "A preference: used if it is available; larger weights first.",
                "soft ${1:10} ($2)");
}

std::vector<std::string> Completer::with_indices(const std::string& name) const {
  size_t at = name.find(".N.");
  if (at == std::string::npos) return {name};
  std::string prefix = name.substr(0, at + 1), rest = name.substr(at + 2);
  std::set<int> used;
  for (const std::string& feature : cursor_.features) {
    if (feature.starts_with(prefix)) used.insert(std::atoi(feature.c_str() + prefix.size()));
  }
  used.insert(used.empty() ? 0 : *used.rbegin() + 1);
  std::vector<std::string> all;
  for (int index : used) all.push_back(prefix + std::to_string(index) + rest);
  return all;
}

void Completer::module_inputs() {
  auto path = query_.workspace.module_path(cursor_.owner.substr(4), query_.analysis->path);
  AnalysisPtr module = path ? query_.workspace.file(*path) : nullptr;
  if (!module) return;
  for (const Definition& definition : module->symbols.definitions) {
    if (definition.space != Space::Input) continue;
    offer_feature(std::string(definition.name), text_of(*module, *definition.block, "type"),
                  text_of(*module, *definition.block, "description"));
    options_of(*definition.block);
  }
  offer_feature("when", "boolean", "The module is left out where this is not so.");
}

std::string Completer::text_of(const Analysis& in, const ast::Block& block, std::string_view feature_name) {
  const ast::Expr* value = value_of(block, feature_name);
  if (auto* text = ast::as<ast::String>(value)) return std::string(text->text);
  return value ? std::string(in.source.text(value->span)) : "";
}

const ast::Expr* Completer::value_of(const ast::Block& block, std::string_view feature_name) {
  auto* feature_block = ast::as<ast::FeatureBlock>(&block);
  if (!feature_block) return nullptr;
  for (const ast::Feature* feature : feature_block->body.items)
    if (feature->name.text == feature_name) return feature->value;
  return nullptr;
}

void Completer::options_of(const ast::Block& input) {
  auto* type = ast::as<ast::Call>(value_of(input, "type"));
  if (!type || type->function.text != "options" || type->arguments.size() != 1) return;
  auto* resource = ast::as<ast::Reference>(type->arguments[0]);
  if (!resource || !resource->parts[0].name) return;
  std::string owner = "resource " + std::string(resource->parts[0].name.text);
  for (const Word& word : features_of(owner)) {
    bool own = word.name == "when" || word.name == "with";
    if (!own) offer_feature(word.name, word.kind, word.doc);
  }
}

void Completer::offer_feature(const std::string& name, std::string_view detail, std::string_view doc) {
  if (std::find(cursor_.features.begin(), cursor_.features.end(), name) != cursor_.features.end()) return;
  Json& item = add(name, kProperty, detail, doc, name + " = $1");
  item["insertTextFormat"] = 2;
  item["filterText"] = name;
}

void Completer::comparators() {
  auto word = find_feature(cursor_.owner, cursor_.feature);
  for (std::string_view terminal : cursor_.expected) {
    const bool group = terminal == "contains", equal = terminal == "=";
    if (word && (group != word->group || (!group && !equal && !word->compares))) continue;
    if (group || equal || terminal[0] == '<' || terminal[0] == '>') add(terminal, kKeyword, "", "");
  }
}

void Completer::recipe_body() {
  add_snippet("@begin", kSnippet, "An Ansible recipe.",
              "\n@begin\n---\n- tasks:\n    - name: ${1:what is done}\n      $0\n@end\n");
  if (!cursor_.radl2) return;
  for (const ir::ResourceType& type : ir::resource_types()) {
    std::string snippet = std::string(type.name) + " '${1:" + std::string(type.subject) + "}' ($0)";
    add_snippet(type.name, kFunction, type.doc, snippet);
  }
}

void Completer::steps() {
  int most = 0;
  each_block(query_.analysis->tree->blocks, [&](const ast::Block& block) {
    if (auto* context = ast::as<ast::Contextualize>(&block)) most = std::max(most, last_step(context->items));
  });
  for (int step = 1; step <= most + 1; ++step)
    add(std::to_string(step), kValue, step > most ? "a further step" : "", "");
}

void Completer::clouds() {
  std::set<std::string> ids;
  each_block(query_.analysis->tree->blocks, [&](const ast::Block& block) {
    auto* deploy = ast::as<ast::Deploy>(&block);
    auto* cloud = deploy ? ast::as<ast::String>(deploy->cloud) : nullptr;
    if (cloud && cloud->parts.empty()) ids.emplace(cloud->text);
  });
  ids.erase(cursor_.word);
  for (const std::string& id : ids) add(id, kValue, "credential", "");
  blocks();  // the credential may be left out
}

void Completer::module_paths() {
  for (const std::string& name : query_.workspace.module_names(query_.analysis->path))
    quoted(name, kModule, "");
}

void Completer::recipe_words() {
  for (const RecipeVariable& variable : recipe_variables()) add(variable.name, kVariable, "", variable.doc);
  for (const std::string& system : known_names(Space::System)) {
    add("groups['" + system + "']", kVariable, "hosts of system " + system, "");
    std::string upper = system;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    add("IM_" + upper + "_NUM_VMS", kVariable, "number of nodes of " + system + " (a string)", "");
  }
}

Json completion(const Query& query, const Json& params) { return Completer(query, params).run(); }

}  // namespace radl::lsp
