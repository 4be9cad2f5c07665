// Lists, maps, comprehensions, and what a secret may choose from them.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/eval/evaluator.h"
#include "compiler/eval/functions.h"
#include "compiler/eval/operators.h"
#include "compiler/eval/secret_access.h"

namespace radl::expr {

Value Evaluator::list_value(const ast::ListValue& list) {
  Items items;
  for (const ast::Expr* item : list.items) {
    items.push_back(run(*item));
    if (items.back().is_error()) return {};
  }
  return Value::list(std::move(items));
}

// Plans show the node and the attribute.
bool Evaluator::names_nodes(const Value& value) {
  if (value.has_unknown() || value.kind() == Kind::System || value.kind() == Kind::Node) return true;
  if (value.kind() == Kind::List) return std::any_of(value.items().begin(), value.items().end(), names_nodes);
  return value.kind() == Kind::Map &&
         std::any_of(value.entries().begin(), value.entries().end(),
                     [](const auto& entry) { return names_nodes(entry.second); });
}

// What `by` chose: a secret, where `by` is one.
Value Evaluator::chosen(Value value, const Value& by, Span at) {
  if (value.is_error() || !by.sensitive()) return value;
  if (!names_nodes(value)) return value.taint(by);
  return report(DiagCode::SecretShown, at,
                "which node it is is shown in plans: it cannot be chosen by a secret")
      .taint(by);
}

// The key of an entry; nullopt after a report.
std::optional<std::string> Evaluator::key_of(const ast::Entry& entry) {
  if (entry.key == nullptr) return std::string(entry.name.text);
  Value key = run(*entry.key);
  if (key.is_error() || !known(key, entry.key->span)) return std::nullopt;
  auto text = key.kind() == Kind::List || key.kind() == Kind::Map ? std::nullopt : display(key);
  if (key.sensitive())
    report(DiagCode::SecretShown, entry.key->span,
           "the keys of a map are shown in plans: they cannot be secrets");
  else if (!text)
    report(DiagCode::WrongOperand, entry.key->span, fmt::format("{} cannot be a key", kind_name(key.kind())));
  return key.sensitive() ? std::nullopt : text;
}

bool Evaluator::add_entry(const ast::Entry& entry, Entries& entries) {
  auto key = key_of(entry);
  if (!key || !charge(context_, 1, key->size(), entry.span)) return false;
  Value value = run(*entry.value);
  if (value.is_error()) return false;
  if (entries.emplace(*key, std::move(value)).second) return true;
  report(DiagCode::WrongOperand, entry.span, fmt::format("the key '{}' is given more than once", *key));
  return false;
}

Value Evaluator::map_value(const ast::MapValue& map) {
  Entries entries;
  for (const ast::Entry& entry : map.entries)
    if (!add_entry(entry, entries)) return {};
  return Value::map(std::move(entries));
}

// The elements over which an `each` or a comprehension goes, as (key or index, element). False after a
// report.
bool Evaluator::elements_of(const Value& list, Span at, std::vector<std::pair<Value, Value>>& out) {
  if (list.kind() == Kind::Map) {
    for (const auto& [key, value] : list.entries()) out.emplace_back(Value::string(key), value);
  } else if (list.kind() == Kind::List) {
    for (const Value& item : list.items())
      out.emplace_back(Value::integer(static_cast<int64_t>(out.size())), item);
  } else if (list.kind() == Kind::System) {
    Value nodes = all_elements(list, at);
    if (nodes.is_error()) return false;
    for (const Value& node : nodes.items())
      out.emplace_back(Value::integer(static_cast<int64_t>(out.size())), node);
  } else if (list.kind() == Kind::Namespace && list.space()->open()) {
    if (!list.space()->complete(at)) return false;
    for (const std::string& name : list.space()->names()) {
      out.emplace_back(Value::string(name), member_value(list, {name, at}, "this", at));
      if (out.back().second.is_error()) return false;
    }
  } else {
    report(DiagCode::WrongOperand, at,
           fmt::format("`in` takes a list, a map or a system, not {}", kind_name(list.kind())));
    return false;
  }
  return charge(context_, out.size(), out.size() * sizeof(Value), at);
}

Value Evaluator::made_value(const ast::Comprehension& made) {
  if (const ast::Name& key = made.element.name; made.makes_map && key) {
    context_.diagnostics
        ->report(DiagCode::WrongOperand, key.span,
                 fmt::format("every entry would have the key '{}'", key.text))
        .with_help(fmt::format("the key is the word itself: its value is written ({}) = ...", key.text));
    return {};
  }
  Value list = run(*made.each.list);
  if (list.is_error()) return {};
  std::vector<std::pair<Value, Value>> elements;
  if (!elements_of(list, made.each.list->span, elements)) return {};
  Items items;
  Entries entries;
  const Binding* outside = bindings_;
  bool fine = true, hidden = false;
  for (const auto& [key, element] : elements) {
    Binding first{made.each.first.text, made.each.second ? &key : &element, outside};
    Binding second{made.each.second.text, &element, &first};
    bindings_ = made.each.second ? &second : &first;
    std::optional<bool> taken = condition_holds(made.condition, hidden);
    if (taken && *taken) {
      if (made.makes_map) {
        fine = add_entry(made.element, entries);
      } else {
        items.push_back(run(*made.element.value));
        fine = !items.back().is_error();
      }
    }
    bindings_ = outside;
    if (!taken || !fine) return {};
  }
  // A list of secrets, or one chosen by secrets, gives secrets.
  Value value = made.makes_map ? Value::map(std::move(entries)) : Value::list(std::move(items));
  return chosen(std::move(value), hidden ? Value::null().mark_sensitive() : Value::null(), made.span);
}

// True for a missing condition. nullopt after a report. Sets `hidden` if it is a secret.
std::optional<bool> Evaluator::condition_holds(const ast::Expr* condition, bool& hidden) {
  if (condition == nullptr) return true;
  Value value = run(*condition);
  if (value.is_error() || !known(value, condition->span)) return std::nullopt;
  if (value.kind() != Kind::Boolean) {
    wrong_operand("if", value, condition->span);
    return std::nullopt;
  }
  hidden = hidden || value.sensitive();
  return value.as_boolean(kPermitted);
}

}  // namespace radl::expr
