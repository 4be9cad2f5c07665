// Completion of values: of features, and of expressions of `radl 2`.
#include <algorithm>
#include <set>

#include "compiler/eval/evaluate.h"
#include "tools/lsp/completer.h"

namespace radl::lsp {

void Completer::values() {
  const std::string& feature = cursor_.feature;
  if (cursor_.in_interpolation || behind_dot()) return expressions();
  if (feature.starts_with("net_interface.") && feature.ends_with(".connection"))
    return quoted_names(Space::Network, kInterface);
  if (feature == "ansible_host") return quoted_names(Space::Ansible, kValue);
  if (cursor_.keyword == "input" && feature == "type") {
    return types();
  }
  if (auto word = find_feature(cursor_.owner, feature)) {
    // `radl 2` has the words yes and no, which the expressions below offer.
    if (word->kind != "boolean" || !cursor_.radl2 || cursor_.in_text) {
      for (const std::string& value : word->values) quoted(value, kValue, "");
    }
    if (!word->units.empty() && !cursor_.word.empty() && cursor_.word[0] >= '0' && cursor_.word[0] <= '9')
      units(*word);
  }
  if (!cursor_.in_text && cursor_.radl2) expressions();
}

// `self.`: what is offered is a member, and nothing else; 2.5 is a number.
bool Completer::behind_dot() const {
  const bool number = !cursor_.word.empty() && cursor_.word[0] >= '0' && cursor_.word[0] <= '9';
  return cursor_.radl2 && !cursor_.in_text && !number && cursor_.word.find('.') != std::string::npos;
}

void Completer::types() {
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

void Completer::units(const Word& word) {
  size_t digits = cursor_.word.find_first_not_of("0123456789.");
  std::string number = cursor_.word.substr(0, digits);
  for (const std::string& unit : word.units) add(number + unit, kUnit, "", "");
}

void Completer::quoted(const std::string& value, ItemKind kind, std::string_view doc) {
  add(value, kind, "", doc, cursor_.in_text ? value : "'" + value + "'");
}

void Completer::quoted_names(Space space, ItemKind kind) {
  for (const std::string& name : known_names(space)) quoted(name, kind, "");
}

void Completer::names(Space space, ItemKind kind) {
  for (const std::string& name : known_names(space)) add(name, kind, std::string(space_name(space)), "");
}

std::vector<std::string> Completer::known_names(Space space) const {
  std::set<std::string> found;
  for (const Analysis* in : {query_.analysis.get(), query_.document.last_good.get()}) {
    if (!in) continue;
    for (const Definition& definition : in->symbols.definitions) {
      if (definition.space == space) found.emplace(definition.name);
    }
  }
  return {found.begin(), found.end()};
}

void Completer::behind_value() {
  // `worker[0].`: the bracket has ended a value, and the dot goes on with it.
  if (cursor_.radl2 && cursor_.word.starts_with('.')) return expressions();
  if (cursor_.behind_number) {
    if (auto word = find_feature(cursor_.owner, cursor_.feature)) {
      for (const std::string& unit : word->units) add(unit, kUnit, "", "");
    }
  }
  words();
}

void Completer::expressions() {
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
  words();
  for (const char* value : {"yes", "no"}) add(value, kKeyword, "", "");
}

void Completer::members(const std::string& head) {
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
  } else if (head == "module") {
    all(module_members());
  } else if (const Holding holding = holding_in_front(head); holding.what == Holding::What::Node) {
    all(node_members());
  } else if (holding.what == Holding::What::System) {
    all(system_members());
  } else if (holding.what == Holding::What::Typed) {
    for (const Field& field : fields_of(holding)) member(field.name, kProperty, field.type, "");
  } else if (head.empty()) {  // after the bracket of something else
    all(node_members());
  } else if (holds(head, "training")) {
    all(job_members(true));
  } else if (holds(head, "program")) {
    all(job_members(false));
  }
}

Holding Completer::holding_in_front(const std::string& head) const {
  const std::string_view text = query_.analysis->source.text();
  const uint32_t begin = path_begin(text, cursor_.word_begin);
  return holding_of(query_, std::string(text.substr(begin, cursor_.word_begin - begin)) + head, begin);
}

bool Completer::holds(const std::string& name, std::string_view job) const {
  const Definition* found = query_.analysis->symbols.find(Space::Configure, name);
  auto* configure = found != nullptr ? ast::as<ast::Configure>(found->block) : nullptr;
  return configure != nullptr &&
         std::any_of(configure->resources.begin(), configure->resources.end(),
                     [&](const ast::Resource* each) { return each->type.text == job; });
}

}  // namespace radl::lsp
