// What could be written at the cursor.
#include <algorithm>
#include <set>

#include "compiler/expr/evaluate.h"
#include "compiler/ir/resource_schema.h"
#include "compiler/tools/lsp/answers.h"
#include "compiler/tools/lsp/cursor.h"
#include "compiler/tools/lsp/vocabulary.h"

namespace radl::lsp {
namespace {

// LSP's CompletionItemKind numbers.
enum ItemKind {
  kText = 1,
  kFunction = 3,
  kVariable = 6,
  kClass = 7,
  kInterface = 8,
  kModule = 9,
  kProperty = 10,
  kUnit = 11,
  kValue = 12,
  kKeyword = 14,
  kSnippet = 15,
  kFile = 17
};

class Completer {
 public:
  Completer(const Query& query, const Json& params)
      : query_(query),
        cursor_(read_cursor(query.analysis->source.text(), query.offset(params.at("position")))),
        replaced_(query.range({query.analysis->source.id(), cursor_.word_begin, cursor_.word_end})) {}

  Json run() {
    offer();
    return {{"isIncomplete", false}, {"items", std::move(items_)}};
  }

 private:
  void offer() {
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
      case Place::ItemStart:
        return words({"system", "step", "with", "option", "after", "when", "each"});
      case Place::ItemConfigureWord:
        return words({"configure"});
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
      case Place::DeployCount:
        if (cursor_.radl2) expressions();
        return;
      case Place::DeployCloud:
        return clouds();
      case Place::ModulePath:
        return module_paths();
      case Place::ModuleAlias:
        return words({"as"});
      case Place::Recipe:
        return recipe_words();
      case Place::ResourceName:
      case Place::None:
        return;
    }
  }

  // ---- items
  // -------------------------------------------------------------------------------------------------

  Json& add(std::string_view label, ItemKind kind, std::string_view detail, std::string_view doc,
            std::string text = {}) {
    if (text.empty()) text = label;
    Json item = {{"label", label},
                 {"kind", kind},
                 {"textEdit", {{"range", replaced_}, {"newText", text}}},
                 {"filterText", text}};
    if (!detail.empty()) item["detail"] = detail;
    if (!doc.empty()) item["documentation"] = {{"kind", "markdown"}, {"value", doc}};
    items_.push_back(std::move(item));
    return items_.back();
  }
  void add_snippet(std::string_view label, ItemKind kind, std::string_view doc, std::string_view snippet) {
    Json& item = add(label, kind, "", doc, std::string(snippet));
    item["insertTextFormat"] = 2;
    item["filterText"] = label;
  }
  void words(std::initializer_list<std::string_view> list) {
    for (std::string_view word : list) {
      bool new_word = word == "after" || word == "when" || word == "each";
      if (!new_word || cursor_.radl2) add(word, kKeyword, "", "");
    }
  }

  void blocks() {
    for (const BlockWord& word : block_words()) {
      if (word.radl2 && !cursor_.radl2) continue;
      if (word.name == "radl" && (cursor_.radl2 || !query_.analysis->tree->blocks.empty())) continue;
      add_snippet(word.name, kKeyword, word.doc, word.snippet);
    }
  }

  // ---- features
  // ----------------------------------------------------------------------------------------------

  void feature_names() {
    if (cursor_.owner.starts_with("use ")) return module_inputs();
    for (const Word& word : features_of(cursor_.owner)) {
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
    if (cursor_.owner == "system")
      add_snippet("soft", kKeyword, "A wish: taken into account where it can be had; larger weights first.",
                  "soft ${1:10} ($2)");
  }

  // disk.N.size: for the indices that the system has, and the next one.
  std::vector<std::string> with_indices(const std::string& name) const {
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

  void module_inputs() {
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

  static std::string text_of(const Analysis& in, const ast::Block& block, std::string_view feature_name) {
    const ast::Expr* value = value_of(block, feature_name);
    if (auto* text = ast::as<ast::String>(value)) return std::string(text->text);
    return value ? std::string(in.source.text(value->span)) : "";
  }
  static const ast::Expr* value_of(const ast::Block& block, std::string_view feature_name) {
    auto* feature_block = ast::as<ast::FeatureBlock>(&block);
    if (!feature_block) return nullptr;
    for (const ast::Feature* feature : feature_block->body.items)
      if (feature->name.text == feature_name) return feature->value;
    return nullptr;
  }

  // An input of type options(RESOURCE) takes the resource's properties beside the inputs.
  void options_of(const ast::Block& input) {
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

  void offer_feature(const std::string& name, std::string_view detail, std::string_view doc) {
    if (std::find(cursor_.features.begin(), cursor_.features.end(), name) != cursor_.features.end()) return;
    Json& item = add(name, kProperty, detail, doc, name + " = $1");
    item["insertTextFormat"] = 2;
    item["filterText"] = name;
  }

  void comparators() {
    auto word = find_feature(cursor_.owner, cursor_.feature);
    if (word && word->group) return words({"contains"});
    add("=", kKeyword, "", "");
    if (word && !word->compares) return;
    for (const char* op : {">=", "<=", ">", "<"}) add(op, kKeyword, "", "");
    if (!word) add("contains", kKeyword, "", "");
  }

  // ---- values
  // ------------------------------------------------------------------------------------------------

  void values() {
    const std::string& feature = cursor_.feature;
    if (cursor_.in_interpolation) return expressions();
    if (feature.starts_with("net_interface.") && feature.ends_with(".connection"))
      return quoted_names(Space::Network, kInterface);
    if (feature == "ansible_host") return quoted_names(Space::Ansible, kValue);
    if (cursor_.keyword == "input" && feature == "type") {
      return types();
    }
    if (auto word = find_feature(cursor_.owner, feature)) {
      for (const std::string& value : word->values) quoted(value, kValue, "");
      if (!word->units.empty() && !cursor_.word.empty() && cursor_.word[0] >= '0' && cursor_.word[0] <= '9')
        units(*word);
      if (word->kind == "boolean") {
        for (const char* value : {"yes", "no"})
          cursor_.radl2&& cursor_.owner.starts_with("resource ") ? void(add(value, kValue, "", ""))
                                                                 : quoted(value, kValue, "");
      }
    }
    if (!cursor_.in_text && cursor_.radl2) expressions();
  }

  void types() {
    for (const char* type : {"text", "string", "integer", "number", "boolean", "size", "duration", "list",
                             "map", "system", "systems"})
      add(type, kValue, "", "");
    if (cursor_.in_text) return;
    add_snippet("list(...)", kValue, "A list whose elements have a type.", "list(${1:integer})");
    add_snippet("map(...)", kValue, "A map whose values have a type.", "map(${1:text})");
    add_snippet("object(...)", kValue, "A map that has these keys.", "object(${1:name} = ${2:text})");
    add_snippet("optional(...)", kValue, "In an object: a key that may be left out, with its default.",
                "optional(${1:text}, $2)");
    add_snippet("options(...)", kValue, "Properties of a kind of resource.", "options(${1:training})");
  }

  void units(const Word& word) {
    size_t digits = cursor_.word.find_first_not_of("0123456789.");
    std::string number = cursor_.word.substr(0, digits);
    for (const std::string& unit : word.units) add(number + unit, kUnit, "", "");
  }

  void quoted(const std::string& value, ItemKind kind, std::string_view doc) {
    add(value, kind, "", doc, cursor_.in_text ? value : "'" + value + "'");
  }
  void quoted_names(Space space, ItemKind kind) {
    for (const std::string& name : known_names(space)) quoted(name, kind, "");
  }
  void names(Space space, ItemKind kind) {
    for (const std::string& name : known_names(space)) add(name, kind, std::string(space_name(space)), "");
  }

  // Of this reading and of the last one without errors: what is being typed may hide definitions.
  std::vector<std::string> known_names(Space space) const {
    std::set<std::string> found;
    for (const Analysis* in : {query_.analysis.get(), query_.document.last_good.get()}) {
      if (!in) continue;
      for (const Definition& definition : in->symbols.definitions) {
        if (definition.space == space) found.emplace(definition.name);
      }
    }
    return {found.begin(), found.end()};
  }

  void behind_value() {
    // `worker[0].`: the bracket has ended a value, and the dot goes on with it.
    if (cursor_.radl2 && cursor_.word.starts_with('.')) return expressions();
    if (cursor_.behind_number) {
      if (auto word = find_feature(cursor_.owner, cursor_.feature)) {
        for (const std::string& unit : word->units) add(unit, kUnit, "", "");
      }
    }
    words({"and"});
    if (cursor_.radl2 && cursor_.in_interpolation) words({"or", "then", "else"});
  }

  // ---- expressions of radl 2
  // ---------------------------------------------------------------------------------

  void expressions() {
    size_t dot = cursor_.word.rfind('.');
    if (dot != std::string::npos) return members(cursor_.word.substr(0, dot));
    for (const std::string& name : known_names(Space::Input)) add("input." + name, kVariable, "input", "");
    for (const std::string& name : known_names(Space::System)) {
      add("system." + name, kClass, "system", "");
      add(name, kClass, "system", "One node is `" + name + "[0]`, all are `" + name + "[*]`.");
    }
    for (const std::string& name : known_names(Space::Module)) add(name, kModule, "module", "");
    for (const std::string& name : known_names(Space::Let)) add(name, kVariable, "let", "");
    for (const Definition& definition : query_.analysis->symbols.definitions) {
      bool here = definition.range.begin <= cursor_.word_begin && cursor_.word_begin <= definition.range.end;
      if (definition.space == Space::Variable && here) add(definition.name, kVariable, "variable", "");
    }
    for (const expr::FunctionInfo& function : expr::functions()) {
      std::string doc = std::string(function.doc) +
                        (function.example.empty() ? "" : "\n\n    " + std::string(function.example));
      add_snippet(function.name, kFunction, doc, std::string(function.name) + "($1)");
    }
    words({"if", "not", "yes", "no"});
  }

  void members(const std::string& head) {
    auto member = [&](const std::string& name, ItemKind kind, std::string_view detail, std::string_view doc) {
      add(head + "." + name, kind, detail, doc)["label"] = name;
    };
    auto all = [&](const std::vector<MemberWord>& members) {
      for (const MemberWord& each : members) member(std::string(each.name), kProperty, "", each.doc);
    };
    if (head == "input") {
      for (const std::string& name : known_names(Space::Input)) member(name, kVariable, "input", "");
    } else if (head == "system") {
      for (const std::string& name : known_names(Space::System)) member(name, kClass, "system", "");
    } else if (const Definition* use = query_.analysis->symbols.find(Space::Module, head)) {
      auto* block = ast::as<ast::Use>(use->block);
      auto path = block && block->module
                      ? query_.workspace.module_path(std::string(block->module->text), query_.analysis->path)
                      : std::nullopt;
      AnalysisPtr module = path ? query_.workspace.file(*path) : nullptr;
      if (!module) return;
      for (const Definition& definition : module->symbols.definitions) {
        if (definition.space == Space::Output)
          member(std::string(definition.name), kProperty, "output",
                 text_of(*module, *definition.block, "description"));
      }
    } else if (head.empty() || head == "self") {  // behind worker[0]
      all(node_members());
    } else if (head == "module") {
      all(module_members());
    } else if (known(Space::System, head)) {
      all(system_members());
    } else if (trains(head)) {
      all(training_members());
    }
  }

  bool known(Space space, const std::string& name) const {
    std::vector<std::string> names = known_names(space);
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  bool trains(const std::string& name) const {
    const Definition* found = query_.analysis->symbols.find(Space::Configure, name);
    auto* configure = found != nullptr ? ast::as<ast::Configure>(found->block) : nullptr;
    return configure != nullptr &&
           std::any_of(configure->resources.begin(), configure->resources.end(),
                       [](const ast::Resource* each) { return each->type.text == "training"; });
  }

  // ---- recipes, items, modules
  // -------------------------------------------------------------------------------

  void recipe_body() {
    add_snippet("@begin", kSnippet, "An Ansible recipe.",
                "\n@begin\n---\n- tasks:\n    - name: ${1:what is done}\n      $0\n@end\n");
    if (!cursor_.radl2) return;
    for (const ir::ResourceType& type : ir::resource_types()) {
      std::string snippet = std::string(type.name) + " '${1:" + std::string(type.subject) + "}' ($0)";
      add_snippet(type.name, kFunction, type.doc, snippet);
    }
  }

  void steps() {
    int most = 0;
    for (const ast::Block* block : query_.analysis->tree->blocks) {
      auto* context = ast::as<ast::Contextualize>(block);
      if (!context) continue;
      for (const ast::Item* item : context->items) {
        if (item->step && !item->step->big && item->step->integer < 1000)
          most = std::max(most, static_cast<int>(item->step->integer));
      }
    }
    for (int step = 1; step <= most + 1; ++step)
      add(std::to_string(step), kValue, step > most ? "a further step" : "", "");
  }

  void clouds() {
    std::set<std::string> ids;
    for (const ast::Block* block : query_.analysis->tree->blocks) {
      auto* deploy = ast::as<ast::Deploy>(block);
      if (deploy && deploy->cloud) ids.emplace(deploy->cloud.text);
    }
    ids.erase(cursor_.word);
    for (const std::string& id : ids) add(id, kValue, "credential", "");
    blocks();  // the credential may be left out
  }

  void module_paths() {
    for (const std::string& name : query_.workspace.module_names(query_.analysis->path))
      quoted(name, kModule, "");
  }

  void recipe_words() {
    for (const RecipeVariable& variable : recipe_variables()) add(variable.name, kVariable, "", variable.doc);
    for (const std::string& system : known_names(Space::System)) {
      add("groups['" + system + "']", kVariable, "hosts of system " + system, "");
      std::string upper = system;
      std::transform(upper.begin(), upper.end(), upper.begin(),
                     [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
      add("IM_" + upper + "_NUM_VMS", kVariable, "number of nodes of " + system + " (a string)", "");
    }
  }

  const Query& query_;
  Cursor cursor_;
  Json replaced_;
  Json items_ = Json::array();
};

}  // namespace

Json completion(const Query& query, const Json& params) { return Completer(query, params).run(); }

}  // namespace radl::lsp
