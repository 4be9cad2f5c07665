// Names, their members and elements: worker[0].private_ip.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/suggestion.h"
#include "common/text.h"
#include "compiler/eval/evaluator.h"
#include "compiler/eval/functions.h"
#include "compiler/eval/operators.h"
#include "compiler/eval/secret_access.h"
#include "compiler/syntax/renamed.h"

namespace radl::expr {

Value Evaluator::reference_value(const ast::Reference& reference) {
  if (reference.parts.empty()) return {};
  const ast::Name& first = reference.parts[0].name;
  for (const Binding* binding = bindings_; binding != nullptr; binding = binding->outer) {
    if (binding->name == first.text)
      return follow(*binding->value, reference.parts, 1, std::string(first.text), reference.span);
  }
  auto value = context_.names == nullptr ? std::nullopt : context_.names->member(first.text, reference.span);
  if (!value)
    return unknown_name(first, context_.names, DiagCode::UnknownName,
                        fmt::format("nothing here is named '{}'", first.text));
  return follow(std::move(*value), reference.parts, 1, std::string(first.text), reference.span);
}

namespace {

bool are_systems(const Value& value) {
  return value.kind() == Kind::List && !value.items().empty() &&
         std::all_of(value.items().begin(), value.items().end(),
                     [](const Value& item) { return item.kind() == Kind::System; });
}

bool is_node_attribute(std::string_view name) {
  const std::vector<std::string>& all = Systems::attributes();
  return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace

// Members and elements, from part `i` on.
Value Evaluator::follow(Value value, const List<ast::PathPart>& parts, size_t i, std::string so_far,
                        Span at) {
  for (; i < parts.size(); i++) {
    if (value.is_error()) return value;
    const ast::PathPart& part = parts[i];
    // `input.nodes[0].ip` is a node's, whether one system was given or several.
    const bool of_node = !part.name && i + 1 < parts.size() && is_node_attribute(parts[i + 1].name.text);
    if (of_node && are_systems(value)) value = nodes_of(value, part.span);
    value = part.name ? member_value(value, part.name, so_far, at) : element_value(value, part, so_far);
    so_far += part.name ? fmt::format(".{}", part.name.text) : index_text(part.index);
  }
  return value;
}

namespace {

// What messages call the value of an expression that is more than names.
constexpr const char* kUnnamed = "this value";

// `so_far` as help writes it again: an expression without a name is `..`.
std::string written_again(const std::string& so_far) { return so_far.starts_with(kUnnamed) ? ".." : so_far; }

}  // namespace

Value Evaluator::select_value(const ast::Select& select) {
  Value base = run(*select.base);
  return base.is_error() ? base : follow(std::move(base), select.parts, 0, kUnnamed, select.span);
}

// As it was written, for messages that a user copies from.
std::string Evaluator::index_text(const ast::Expr* index) {
  if (index == nullptr) return "[*]";
  auto* number = ast::as<ast::Number>(index);
  auto* name = ast::as<ast::Reference>(index);
  if (number != nullptr) return fmt::format("[{}]", number->digits);
  return name != nullptr && name->parts.size() == 1 ? fmt::format("[{}]", name->parts[0].name.text) : "[...]";
}

namespace {

// How other languages write what there is here.
std::string_view here_written(std::string_view word) {
  for (std::string_view other : {"null", "nil", "None", "undefined", "Null", "NULL"})
    if (word == other) return "none";
  for (std::string_view other : {"True", "TRUE", "Yes", "YES"})
    if (word == other) return "yes";
  for (std::string_view other : {"False", "FALSE", "No", "NO"})
    if (word == other) return "no";
  if (word == "var") return "input";
  return {};
}

// What Terraform and Ansible call a thing, and how it is written here.
std::string_view of_other_tools(std::string_view word) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"count", "the node's number is `#N#` in a host name, and `self.ordinal` in a recipe"},
      {"each", "`each` names the element: `each zone in ['a', 'b'] ( system 'worker-${zone}' ( ... ) )`"},
      {"local", "a `let` is used by its name alone: `let n = 3`, and `count = n`"},
      {"item", "`each` repeats a resource: `each name in ['git', 'vim'] ( package name )`"}};
  for (const auto& [other, here] : kWords)
    if (other == word) return here;
  return {};
}

// HOME, PATH_INFO
bool is_shell_name(std::string_view word) {
  return word.size() > 1 && std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

}  // namespace

bool Evaluator::is_input(const ast::Name& name) {
  auto inputs = context_.names == nullptr ? std::nullopt : context_.names->member("input", name.span);
  if (!inputs || inputs->kind() != Kind::Namespace) return false;
  const std::vector<std::string> all = inputs->space()->names();
  return std::find(all.begin(), all.end(), name.text) != all.end();
}

Value Evaluator::unknown_name(const ast::Name& name, const Namespace* space, DiagCode code,
                              std::string message) {
  auto& diagnostic = context_.diagnostics->report(code, name.span, std::move(message));
  std::string near(code == DiagCode::UnknownName ? here_written(name.text) : "");
  if (near.empty() && code == DiagCode::UnknownName && is_input(name))
    near = fmt::format("input.{}", name.text);
  const std::string present = space == nullptr ? "" : space->renamed(name.text);
  if (!present.empty()) near = present;
  if (near.empty() && space != nullptr) near = suggestion(name.text, space->names());
  if (near == name.text) near.clear();  // the name of something that is no value
  if (std::string why = space == nullptr ? "" : space->absence(name.text); !why.empty()) {
    diagnostic.with_help(std::move(why));
  } else if (!near.empty()) {
    diagnostic.with_help(present.empty() ? fmt::format("did you mean '{}'?", near) : renamed_help(present));
    const size_t written =
        name.span.end - name.span.begin;  // system['x'] has quotes, a computed name neither
    if (written == name.text.size())
      diagnostic.fix(fmt::format("write '{}'", near), name.span, near);
    else if (written == name.text.size() + 2)
      diagnostic.fix(fmt::format("write '{}'", near), name.span, "'" + near + "'");
  } else if (name.text.find('-') != name.text.npos) {
    diagnostic.with_help(
        fmt::format("a string needs quotes: '{}'; to subtract, write spaces around '-'", name.text));
  } else if (std::string_view here = of_other_tools(name.text);
             code == DiagCode::UnknownName && !here.empty()) {
    diagnostic.with_help(std::string(here));
  } else if (code == DiagCode::UnknownName && name.text == "network") {
    diagnostic.with_help("a network is written by its name alone, such as lan");
  } else if (code == DiagCode::UnknownName) {
    diagnostic.with_help(fmt::format("a string needs quotes: '{}'{}", name.text,
                                     is_shell_name(name.text)
                                         ? fmt::format("; a shell's variable is `${}`, and in a block "
                                                       "`<<'END'` `${{ }}` means nothing",
                                                       name.text)
                                         : ""));
  } else if (space != nullptr && !space->names().empty()) {
    diagnostic.with_help(names_it_has(space->names()));
  }
  return {};
}

namespace {

bool has_members(const Value& value) {
  switch (value.kind()) {
    case Kind::Namespace:
    case Kind::Map:
    case Kind::System:
    case Kind::Node:
    case Kind::List:
    case Kind::Error:
      return true;
    default:
      return false;
  }
}

}  // namespace

Value Evaluator::member_value(const Value& value, const ast::Name& name, const std::string& so_far, Span at) {
  switch (value.kind()) {
    case Kind::Namespace: {
      auto inner = value.space()->member(name.text, at);
      if (inner) return *inner;
      return unknown_name(name, value.space(), DiagCode::UnknownMember,
                          fmt::format("there is no {} named '{}'", value.space()->what(), name.text));
    }
    case Kind::Map: {
      auto found = value.entries().find(std::string(name.text));
      if (found != value.entries().end()) return found->second;
      return no_entry(value, name.text, so_far, name.span, std::string(name.text));
    }
    case Kind::System:
      if (name.text == "count") {
        auto count = context_.systems->count(value.as_text(), at);
        return count ? Value::integer(*count) : Value();
      }
      if (name.text == "name") return Value::string(value.as_text());
      return report(
          DiagCode::UnknownMember, name.span,
          fmt::format("a system has `count` and `name`; for one node write {}[0].{}, for all {}[*].{}",
                      so_far, name.text, so_far, name.text));
    case Kind::Node:
      return node_member(value, name, at);
    case Kind::List: {
      if (!value.items().empty() && !has_members(value.items().front())) break;
      Items items;
      if (!charge(context_, value.items().size(), 0, name.span)) return {};
      for (const Value& item : value.items()) {
        items.push_back(member_value(item, name, so_far + "[*]", at));
        if (items.back().is_error()) return {};
      }
      return Value::list(std::move(items));
    }
    default:
      break;
  }
  auto& diagnostic = context_.diagnostics->report(
      DiagCode::UnknownMember, name.span,
      fmt::format("'{}' is {} and has no members", so_far, kind_name(value.kind())));
  if (name.text == "count" && names_system(value, at))
    diagnostic.with_help(
        fmt::format("'{}' is the name of a system: write count(system[{}])", so_far, written_again(so_far)));
  else if (const Function* function = find_function(name.text);
           function != nullptr && takes(*function, value))
    diagnostic.with_help(
        fmt::format("put the function before its argument: {}({})", name.text, written_again(so_far)));
  return {};
}

// Whether the value is a string that names a system of this file, as `self.system` is.
bool Evaluator::names_system(const Value& value, Span at) const {
  if (value.kind() != Kind::String || value.sensitive() || context_.names == nullptr) return false;
  const auto systems = context_.names->member("system", at);
  if (!systems || systems->kind() != Kind::Namespace) return false;
  const std::vector<std::string> names = systems->space()->names();
  return std::find(names.begin(), names.end(), value.as_text()) != names.end();
}

// Whether the function accepts the value as its only argument: advice must compile.
bool Evaluator::takes(const Function& function, const Value& value) const {
  if (function.least > 1 || (value.has_unknown() && function.arguments == Arguments::Known)) return false;
  Diagnostics unheard;
  Arena arena;
  ast::Call call;
  call.arguments.push(arena, arena.make<ast::Number>());
  const Context alone{&unheard, nullptr, nullptr, context_.systems, context_.budget};
  return !function.run(CallFrame(alone, call, {value})).is_error();
}

// `written`: the name as the file has it, which a fix replaces; "" if it was computed.
Value Evaluator::no_entry(const Value& map, std::string_view name, const std::string& so_far, Span at,
                          const std::string& written) {
  auto& diagnostic = context_.diagnostics->report(DiagCode::UnknownMember, at,
                                                  fmt::format("'{}' has no entry '{}'", so_far, name));
  if (map.sensitive()) return {};
  std::vector<std::string> names;
  for (const auto& [key, value] : map.entries()) names.push_back(key);
  const std::string near = suggestion(name, names);
  if (names.empty()) {
    diagnostic.with_help(fmt::format("'{}' is empty: lookup({}, '{}', none) gives another value", so_far,
                                     written_again(so_far), name));
  } else if (!near.empty()) {
    diagnostic.with_help(fmt::format("did you mean '{}'?", near));
    if (!written.empty())
      diagnostic.fix(fmt::format("write '{}'", near), at, written.front() == '\'' ? "'" + near + "'" : near);
  } else {
    constexpr size_t kMostShown = 10;
    const std::string more =
        names.size() > kMostShown ? fmt::format(" and {} more", names.size() - kMostShown) : "";
    names.resize(std::min(names.size(), kMostShown));
    diagnostic.with_help(fmt::format("it has {}{}", fmt::join(names, ", "), more));
  }
  return {};
}

Value Evaluator::node_member(const Value& value, const ast::Name& name, Span at) {
  auto attribute = context_.systems->attribute(value.as_text(), value.as_integer(), name.text, at);
  if (attribute) return *attribute;
  auto& diagnostic = context_.diagnostics->report(DiagCode::UnknownMember, name.span,
                                                  fmt::format("a node has no attribute '{}'", name.text));
  std::string near = suggestion(name.text, Systems::attributes());
  diagnostic.with_help(near.empty() ? fmt::format("attributes: {}", fmt::join(Systems::attributes(), ", "))
                                    : fmt::format("did you mean '{}'?", near));
  return {};
}

Value Evaluator::element_value(const Value& value, const ast::PathPart& part, const std::string& so_far) {
  if (value.kind() == Kind::Namespace) return named_element(value, part, so_far);
  if (value.kind() != Kind::System && value.kind() != Kind::List && value.kind() != Kind::Map) {
    return report(DiagCode::WrongOperand, part.span,
                  fmt::format("'{}' is {} and has no elements", so_far, kind_name(value.kind())));
  }
  if (part.index == nullptr) return all_elements(value, part.span);
  Value index = run(*part.index);
  if (index.is_error() || !known(index, part.index->span)) return {};
  if (value.kind() == Kind::Map) {
    if (index.kind() != Kind::String) return wrong_operand("[ ]", index, part.index->span);
    auto found = value.entries().find(index.as_text(kPermitted));
    if (found != value.entries().end()) return chosen(found->second, index, part.index->span);
    return index.sensitive() ? report(DiagCode::UnknownMember, part.index->span,
                                      fmt::format("'{}' has no such entry", so_far))
                                   .taint(index)
                             : no_entry(value, index.as_text(), so_far, part.index->span,
                                        ast::as<ast::String>(part.index) ? "'" + index.as_text() + "'" : "");
  }
  if (index.kind() != Kind::Integer || !index.unit().empty())
    return wrong_operand("[ ]", index, part.index->span);
  int64_t size;
  if (value.kind() == Kind::System) {
    auto count = context_.systems->count(value.as_text(), part.span);
    if (!count) return {};
    size = *count;
  } else {
    size = static_cast<int64_t>(value.items().size());
  }
  int64_t at = index.as_integer(kPermitted);
  const auto* ordinals = value.kind() == Kind::System ? context_.systems->ordinals(value.as_text()) : nullptr;
  if (ordinals ? !std::binary_search(ordinals->begin(), ordinals->end(), at) : at < 0 || at >= size) {
    return report(DiagCode::IndexRange, part.index->span,
                  fmt::format("'{}' has {} element{}, {}: there is no {}", so_far, size, size == 1 ? "" : "s",
                              ordinals ? "as `radlc scale` has chosen" : "numbered from 0",
                              index.sensitive() ? "such one" : std::to_string(index.as_integer())))
        .taint(index);
  }
  Value element = value.kind() == Kind::System ? Value::node(value.as_text(), static_cast<int>(at))
                                               : value.items()[static_cast<size_t>(at)];
  return chosen(std::move(element), index, part.index->span);
}

// system['worker-a'], input['x']; [*]: all of them.
Value Evaluator::named_element(const Value& space, const ast::PathPart& part, const std::string& so_far) {
  if (part.index == nullptr) {
    Items items;
    if (!space.space()->complete(part.span)) return {};
    for (const std::string& name : space.space()->names()) {
      items.push_back(member_value(space, {name, part.span}, so_far, part.span));
      if (items.back().is_error()) return {};
    }
    return Value::list(std::move(items));
  }
  Value index = run(*part.index);
  if (index.is_error() || !known(index, part.index->span)) return {};
  if (index.sensitive())
    return report(DiagCode::SecretShown, part.index->span, "a name is shown in plans: it cannot be a secret");
  if (index.kind() != Kind::String) return wrong_operand("[ ]", index, part.index->span);
  return member_value(space, {index.as_text(), part.index->span}, so_far, part.span);
}

// For several systems: concatenates their nodes.
Value Evaluator::nodes_of(const Value& systems, Span at) {
  Items items;
  for (const Value& system : systems.items()) {
    Value nodes = all_elements(system, at);
    if (nodes.is_error()) return nodes;
    items.insert(items.end(), nodes.items().begin(), nodes.items().end());
  }
  return Value::list(std::move(items));
}

Value Evaluator::all_elements(const Value& value, Span at) {
  if (value.kind() == Kind::List) return value;
  Items items;
  if (value.kind() == Kind::Map) {
    for (const auto& [key, inner] : value.entries()) items.push_back(inner);
    return Value::list(std::move(items));
  }
  auto count = context_.systems->count(value.as_text(kPermitted), at);
  if (!count || !charge(context_, static_cast<size_t>(*count), 0, at)) return {};
  const std::vector<int>* ordinals = context_.systems->ordinals(value.as_text(kPermitted));
  for (int64_t i = 0; i < *count; i++) {
    const int ordinal = ordinals == nullptr ? static_cast<int>(i) : (*ordinals)[static_cast<size_t>(i)];
    items.push_back(Value::node(value.as_text(), ordinal));
  }
  return Value::list(std::move(items));
}

}  // namespace radl::expr
