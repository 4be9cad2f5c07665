#include "compiler/expr/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "compiler/expr/function_runs.h"
#include "compiler/expr/operators.h"
#include "compiler/expr/secret_access.h"
#include "compiler/syntax/unicode.h"

namespace radl::expr {

const std::vector<std::string>& Systems::attributes() {
  static const std::vector<std::string> names = {"ip",     "private_ip", "public_ip", "port",
                                                 "user",   "id",         "hostname",  "fqdn",
                                                 "number", "ordinal",    "system",    "address"};
  return names;
}

bool charge(const Context& context, size_t operations, size_t bytes, Span at) {
  Budget* budget = context.budget;
  if (budget == nullptr) return true;
  bool enough = budget->operations >= operations && budget->bytes >= bytes;
  if (enough) {
    budget->operations -= operations;
    budget->bytes -= bytes;
    return true;
  }
  if (!budget->spent) {
    context.diagnostics->report(DiagCode::ExpressionCost, at,
                                "the expressions of this program cost more than is allowed");
    budget->spent = true;
  }
  return false;
}

namespace {

class Evaluator {
 public:
  explicit Evaluator(const Context& context) : context_(context), bindings_(context.bindings) {}

  std::optional<std::vector<std::pair<Value, Value>>> elements(const Value& list, Span at) {
    std::vector<std::pair<Value, Value>> out;
    return elements_of(list, at, out) ? std::optional(std::move(out)) : std::nullopt;
  }

  Value run(const ast::Expr& expression) {
    if (depth_ >= kMaxDepth) {
      return report(DiagCode::ExpressionCost, expression.span,
                    fmt::format("this expression is nested deeper than {}", kMaxDepth));
    }
    if (!charge(context_, 1, 0, expression.span)) return {};
    depth_++;
    Value value = dispatch(expression);
    depth_--;
    return value.excess() == Excess::None ? value : too_large(value, expression.span);
  }

 private:
  Value report(DiagCode code, Span at, std::string message) {
    context_.diagnostics->report(code, at, std::move(message));
    return {};
  }

  Value dispatch(const ast::Expr& expression) {
    if (auto* number = ast::as<ast::Number>(&expression)) return number_value(*number);
    if (auto* text = ast::as<ast::String>(&expression)) return text_value(*text);
    if (auto* boolean = ast::as<ast::Boolean>(&expression)) return Value::boolean(boolean->value);
    if (auto* list = ast::as<ast::ListValue>(&expression)) return list_value(*list);
    if (auto* reference = ast::as<ast::Reference>(&expression)) return reference_value(*reference);
    if (auto* unary = ast::as<ast::Unary>(&expression)) return unary_value(*unary);
    if (auto* binary = ast::as<ast::Binary>(&expression)) return binary_value(*binary);
    if (auto* choice = ast::as<ast::If>(&expression)) return choice_value(*choice);
    if (auto* call = ast::as<ast::Call>(&expression)) return call_value(*call);
    if (auto* map = ast::as<ast::MapValue>(&expression)) return map_value(*map);
    if (auto* select = ast::as<ast::Select>(&expression)) return select_value(*select);
    if (auto* made = ast::as<ast::Comprehension>(&expression)) return made_value(*made);
    if (auto* bound = ast::as<ast::Bound>(&expression)) return *bound->value;
    if (expression.kind == ast::Kind::Random) {
      return report(DiagCode::WrongOperand, expression.span,
                    "'random(N)' can only be the value of a feature");
    }
    return {};  // ErrorValue and EC3's references: reported by the parser
  }

  Value number_value(const ast::Number& number) {
    std::string unit(number.unit.text);
    if (number.big)
      return report(DiagCode::NumberRange, number.span, "this integer does not fit into 64 bits");
    return number.is_float ? Value::real(number.real, unit) : Value::integer(number.integer, unit);
  }

  Value text_value(const ast::String& text) {
    if (text.parts.empty()) {
      if (!charge(context_, 0, text.text.size(), text.span)) return {};
      return Value::string(std::string(text.text)).written_in(text.span.file);
    }
    Items parts;
    uint32_t first_file = 0;
    for (const ast::StringPart& part : text.parts) {
      if (part.value == nullptr) {
        parts.push_back(Value::string(std::string(part.text)));
        continue;
      }
      Value value = run(*part.value);
      if (value.is_error()) return Value().taint(value);
      if (&part == &text.parts[0]) first_file = value.kind() == Kind::String ? value.file() : text.span.file;
      if (value.kind() == Kind::Unknown || value.kind() == Kind::Joined) {
        parts.push_back(std::move(value));
        continue;
      }
      auto shown = display(value, kPermitted);
      if (!shown) {
        return report(DiagCode::WrongOperand, part.value->span,
                      fmt::format("{} cannot stand in a string", kind_name(value.kind())));
      }
      parts.push_back(Value::string(std::move(*shown)).taint(value));
    }
    size_t bytes = 0;
    for (const Value& part : parts)
      bytes += part.kind() == Kind::String ? part.as_text(kPermitted).size() : 0;
    if (!charge(context_, parts.size(), bytes, text.span)) return {};
    // '${input.folder}/x' is a path of the place where the folder was written.
    uint32_t file = text.parts[0].value == nullptr ? text.span.file : first_file;
    return Value::joined(std::move(parts)).written_in(file);
  }

  Value list_value(const ast::ListValue& list) {
    Items items;
    for (const ast::Expr* item : list.items) {
      items.push_back(run(*item));
      if (items.back().is_error()) return {};
    }
    return Value::list(std::move(items));
  }

  // No value may hold so much that looking at all of it would take long, however little text it was made by.
  Value too_large(const Value& value, Span at) {
    return report(DiagCode::ExpressionCost, at,
                  value.excess() == Excess::Depth
                      ? fmt::format("lists and maps are nested deeper than {}", kMaxValueDepth)
                      : fmt::format("this value holds more than {} others", kMaxWeight))
        .taint(value);
  }

  // Which node it is, and which attribute of it, stands in plans.
  static bool names_nodes(const Value& value) {
    if (value.has_unknown() || value.kind() == Kind::System || value.kind() == Kind::Node) return true;
    if (value.kind() == Kind::List)
      return std::any_of(value.items().begin(), value.items().end(), names_nodes);
    return value.kind() == Kind::Map &&
           std::any_of(value.entries().begin(), value.entries().end(),
                       [](const auto& entry) { return names_nodes(entry.second); });
  }

  // What `by` chose: a secret, where `by` is one.
  Value chosen(Value value, const Value& by, Span at) {
    if (value.is_error() || !by.sensitive()) return value;
    if (!names_nodes(value)) return value.taint(by);
    return report(DiagCode::SecretShown, at,
                  "which node it is is shown in plans: it cannot be chosen by a secret")
        .taint(by);
  }

  // ---- maps and comprehensions

  // The key of an entry; nullopt after a report.
  std::optional<std::string> key_of(const ast::Entry& entry) {
    if (entry.key == nullptr) return std::string(entry.name.text);
    Value key = run(*entry.key);
    if (key.is_error() || !known(key, entry.key->span)) return std::nullopt;
    auto text = key.kind() == Kind::List || key.kind() == Kind::Map ? std::nullopt : display(key);
    if (key.sensitive())
      report(DiagCode::SecretShown, entry.key->span,
             "the keys of a map are shown in plans: they cannot be secrets");
    else if (!text)
      report(DiagCode::WrongOperand, entry.key->span,
             fmt::format("{} cannot be a key", kind_name(key.kind())));
    return key.sensitive() ? std::nullopt : text;
  }

  bool add_entry(const ast::Entry& entry, Entries& entries) {
    auto key = key_of(entry);
    if (!key || !charge(context_, 1, key->size(), entry.span)) return false;
    Value value = run(*entry.value);
    if (value.is_error()) return false;
    if (entries.emplace(*key, std::move(value)).second) return true;
    report(DiagCode::WrongOperand, entry.span, fmt::format("the key '{}' is given more than once", *key));
    return false;
  }

  Value map_value(const ast::MapValue& map) {
    Entries entries;
    for (const ast::Entry& entry : map.entries)
      if (!add_entry(entry, entries)) return {};
    return Value::map(std::move(entries));
  }

  // The elements over which an `each` or a comprehension goes, as (key or index, element). False after a
  // report.
  bool elements_of(const Value& list, Span at, std::vector<std::pair<Value, Value>>& out) {
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
    } else {
      report(DiagCode::WrongOperand, at,
             fmt::format("`in` takes a list, a map or a system, not {}", kind_name(list.kind())));
      return false;
    }
    return charge(context_, out.size(), out.size() * sizeof(Value), at);
  }

  Value made_value(const ast::Comprehension& made) {
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

  // True for a condition that is not there. nullopt after a report. Sets `hidden` when it is a secret.
  std::optional<bool> condition_holds(const ast::Expr* condition, bool& hidden) {
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

  Value unary_value(const ast::Unary& unary) {
    Value value = run(*unary.operand);
    if (value.is_error() || !known(value, unary.operand->span)) return {};
    if (unary.op == ast::UnaryOp::Not) {
      if (value.kind() != Kind::Boolean) return wrong_operand("not", value, unary.operand->span);
      return Value::boolean(!value.as_boolean(kPermitted)).taint(value);
    }
    return negative(unary, value, context_);
  }

  Value choice_value(const ast::If& choice) {
    Value condition = run(*choice.condition);
    if (condition.is_error() || !known(condition, choice.condition->span)) return {};
    if (condition.kind() != Kind::Boolean) return wrong_operand("if", condition, choice.condition->span);
    Value value = run(condition.as_boolean(kPermitted) ? *choice.then_value : *choice.else_value);
    return chosen(std::move(value), condition, choice.condition->span);
  }

  Value binary_value(const ast::Binary& binary) {
    using enum ast::BinaryOp;
    Value left = run(*binary.left);
    if (left.is_error() || !known(left, binary.left->span)) return {};
    if (binary.op == And || binary.op == Or) return logic_value(binary, left);
    Value right = run(*binary.right);
    if (right.is_error() || !known(right, binary.right->span)) return {};
    Value value = binary_operator(binary, left, right, context_);
    return value.is_error() ? value : value.taint(left).taint(right);
  }

  Value logic_value(const ast::Binary& binary, const Value& left) {
    if (left.kind() != Kind::Boolean) return wrong_operand(op_text(binary.op), left, binary.left->span);
    if (left.as_boolean(kPermitted) == (binary.op == ast::BinaryOp::Or)) return left;
    Value right = run(*binary.right);
    if (right.is_error() || !known(right, binary.right->span)) return {};
    if (right.kind() != Kind::Boolean) return wrong_operand(op_text(binary.op), right, binary.right->span);
    return right.taint(left);
  }

  Value call_value(const ast::Call& call) {
    const Function* function = find_function(call.function.text);
    if (function == nullptr) return unknown_function(call);
    size_t given = call.arguments.size();
    if (given < function->least || given > function->most) {
      return report(DiagCode::WrongArguments, call.span,
                    fmt::format("{}({}) does not take {} argument{}", function->info.name,
                                function->info.parameters, given, given == 1 ? "" : "s"));
    }
    if (!call.named.empty())
      return report(DiagCode::WrongArguments, call.named[0].span,
                    fmt::format("{}() takes no named arguments", function->info.name));
    std::vector<Value> arguments;
    bool error = false;
    for (const ast::Expr* argument : call.arguments) {
      arguments.push_back(run(*argument));
      error = error || arguments.back().is_error();
      if (!error && !function->takes_unknown && !known(arguments.back(), argument->span)) error = true;
    }
    if (error) {
      Value missing;
      for (const Value& argument : arguments) missing.taint(argument);
      return missing;
    }
    CallFrame frame(context_, call, std::move(arguments));
    Value value = function->run(frame);
    if (value.is_error()) return value;
    // What a structure of secrets contains is marked inside; its length or first key is no secret worth
    // hiding less. What was chosen or made by a secret is one as a whole.
    for (size_t i = 0; i < frame.size(); i++) {
      bool inside = frame[i].kind() == Kind::List || frame[i].kind() == Kind::Map;
      bool orders = function->run == run_sort || function->run == run_distinct;
      bool whole = (!inside || orders) && !function->holds_arguments;
      if (frame[i].sensitive() && (whole || !value.sensitive())) value.taint(frame[i]);
    }
    // lookup(map, secret, otherwise): the only function that chooses among what is not known yet.
    if (function->run == run_lookup && frame[1].sensitive())
      return chosen(std::move(value), frame[1], call.span);
    return value;
  }

  Value unknown_function(const ast::Call& call) {
    std::vector<std::string> names;
    for (const Function& function : function_table()) names.emplace_back(function.info.name);
    auto& diagnostic =
        context_.diagnostics->report(DiagCode::UnknownFunction, call.function.span,
                                     fmt::format("no function is named '{}'", call.function.text));
    if (auto near = nearest(call.function.text, names); !near.empty()) {
      diagnostic.with_help(fmt::format("did you mean '{}'?", near))
          .fix(fmt::format("write '{}'", near), call.function.span, near);
    }
    return {};
  }

  // ---- references

  Value reference_value(const ast::Reference& reference) {
    if (reference.parts.empty()) return {};
    const ast::Name& first = reference.parts[0].name;
    for (const Binding* binding = bindings_; binding != nullptr; binding = binding->outer) {
      if (binding->name == first.text)
        return follow(*binding->value, reference.parts, 1, std::string(first.text), reference.span);
    }
    auto value =
        context_.names == nullptr ? std::nullopt : context_.names->member(first.text, reference.span);
    if (!value)
      return unknown_name(first, context_.names, DiagCode::UnknownName,
                          fmt::format("nothing here is named '{}'", first.text));
    return follow(std::move(*value), reference.parts, 1, std::string(first.text), reference.span);
  }

  // Members and elements, from part `i` on.
  Value follow(Value value, const List<ast::PathPart>& parts, size_t i, std::string so_far, Span at) {
    for (; i < parts.size(); i++) {
      if (value.is_error()) return value;
      const ast::PathPart& part = parts[i];
      value = part.name ? member_value(value, part.name, so_far, at) : element_value(value, part, so_far);
      so_far += part.name ? fmt::format(".{}", part.name.text) : index_text(part.index);
    }
    return value;
  }

  Value select_value(const ast::Select& select) {
    Value base = run(*select.base);
    return base.is_error() ? base : follow(std::move(base), select.parts, 0, "this value", select.span);
  }

  // As it was written, for messages that a user copies from.
  static std::string index_text(const ast::Expr* index) {
    if (index == nullptr) return "[*]";
    auto* number = ast::as<ast::Number>(index);
    auto* name = ast::as<ast::Reference>(index);
    if (number != nullptr) return fmt::format("[{}]", number->digits);
    return name != nullptr && name->parts.size() == 1 ? fmt::format("[{}]", name->parts[0].name.text)
                                                      : "[...]";
  }

  Value unknown_name(const ast::Name& name, const Namespace* space, DiagCode code, std::string message) {
    auto& diagnostic = context_.diagnostics->report(code, name.span, std::move(message));
    std::string near = space == nullptr ? std::string() : nearest(name.text, space->names());
    if (!near.empty()) {
      diagnostic.with_help(fmt::format("did you mean '{}'?", near))
          .fix(fmt::format("write '{}'", near), name.span, near);
    } else if (name.text.find('-') != name.text.npos) {
      diagnostic.with_help("a name may contain '-': to subtract, write spaces around it");
    }
    return {};
  }

  Value member_value(const Value& value, const ast::Name& name, const std::string& so_far, Span at) {
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
        return report(DiagCode::UnknownMember, name.span,
                      fmt::format("'{}' has no entry '{}'", so_far, name.text));
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
        Items items;
        if (!charge(context_, value.items().size(), 0, name.span)) return {};
        for (const Value& item : value.items()) {
          items.push_back(member_value(item, name, so_far, at));
          if (items.back().is_error()) return {};
        }
        return Value::list(std::move(items));
      }
      default:
        return report(DiagCode::UnknownMember, name.span,
                      fmt::format("'{}' is {} and has no members", so_far, kind_name(value.kind())));
    }
  }

  Value node_member(const Value& value, const ast::Name& name, Span at) {
    auto attribute = context_.systems->attribute(value.as_text(), value.as_integer(), name.text, at);
    if (attribute) return *attribute;
    auto& diagnostic = context_.diagnostics->report(DiagCode::UnknownMember, name.span,
                                                    fmt::format("a node has no attribute '{}'", name.text));
    std::string near = nearest(name.text, Systems::attributes());
    diagnostic.with_help(near.empty() ? fmt::format("attributes: {}", fmt::join(Systems::attributes(), ", "))
                                      : fmt::format("did you mean '{}'?", near));
    return {};
  }

  Value element_value(const Value& value, const ast::PathPart& part, const std::string& so_far) {
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
      return report(DiagCode::UnknownMember, part.index->span,
                    index.sensitive() ? fmt::format("'{}' has no such entry", so_far)
                                      : fmt::format("'{}' has no entry '{}'", so_far, index.as_text()))
          .taint(index);
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
    const auto* chosen_ones =
        value.kind() == Kind::System ? context_.systems->ordinals(value.as_text()) : nullptr;
    if (chosen_ones ? !std::binary_search(chosen_ones->begin(), chosen_ones->end(), at)
                    : at < 0 || at >= size) {
      return report(
                 DiagCode::IndexRange, part.index->span,
                 fmt::format("'{}' has {} element{}, {}: there is no {}", so_far, size, size == 1 ? "" : "s",
                             chosen_ones ? "as `radlc scale` has chosen" : "numbered from 0",
                             index.sensitive() ? "such one" : std::to_string(index.as_integer())))
          .taint(index);
    }
    Value element = value.kind() == Kind::System ? Value::node(value.as_text(), static_cast<int>(at))
                                                 : value.items()[static_cast<size_t>(at)];
    return chosen(std::move(element), index, part.index->span);
  }

  // system['worker-a'], input['x']; [*]: all of them.
  Value named_element(const Value& space, const ast::PathPart& part, const std::string& so_far) {
    if (part.index == nullptr) {
      Items items;
      for (const std::string& name : space.space()->names()) {
        items.push_back(member_value(space, {name, part.span}, so_far, part.span));
        if (items.back().is_error()) return {};
      }
      return Value::list(std::move(items));
    }
    Value index = run(*part.index);
    if (index.is_error() || !known(index, part.index->span)) return {};
    if (index.sensitive())
      return report(DiagCode::SecretShown, part.index->span,
                    "a name is shown in plans: it cannot be a secret");
    if (index.kind() != Kind::String) return wrong_operand("[ ]", index, part.index->span);
    return member_value(space, {index.as_text(), part.index->span}, so_far, part.span);
  }

  Value all_elements(const Value& value, Span at) {
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

  // ---- complaints

  bool known(const Value& value, Span at) {
    if (!value.has_unknown()) return true;
    report(DiagCode::NotKnownYet, at, "nothing can be computed with a value that is known only after apply");
    return false;
  }

  Value wrong_operand(std::string_view op, const Value& value, Span at) {
    return expr::wrong_operand(op, value, at, context_);
  }

  Value too_long(Span at) { return list_too_long(at, context_); }
  const Context& context_;
  const Binding* bindings_;
  int depth_ = 0;
};

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    uint32_t length = static_cast<unsigned char>(text[0]) < 0x80 ? 1 : decode_utf8(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Plans, state and IR are JSON: no text in them can hold other bytes.
bool is_utf8(const Value& value) {
  if (value.kind() == Kind::String) return is_utf8(value.as_text(kPermitted));
  if (value.kind() == Kind::List || value.kind() == Kind::Joined)
    return std::all_of(value.items().begin(), value.items().end(), [](const Value& v) { return is_utf8(v); });
  if (value.kind() == Kind::Map)
    return std::all_of(value.entries().begin(), value.entries().end(),
                       [](const auto& entry) { return is_utf8(entry.first) && is_utf8(entry.second); });
  return true;
}

}  // namespace

Value evaluate(const ast::Expr& expression, const Context& context) {
  Value value = Evaluator(context).run(expression);
  if (is_utf8(value)) return value;
  if (!context.diagnostics->has(DiagCode::NotUtf8))
    context.diagnostics->report(DiagCode::WrongOperand, expression.span, "this string is not UTF-8")
        .with_help("other bytes can stand in it as base64: base64(file('image.png'))");
  return {};
}

std::optional<std::vector<std::pair<Value, Value>>> elements(const Value& list, Span at,
                                                             const Context& context) {
  return Evaluator(context).elements(list, at);
}

}  // namespace radl::expr
