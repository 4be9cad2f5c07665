// Values of inputs: from strings and JSON, and whether they fit what is declared.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/json_depth.h"
#include "common/text.h"
#include "compiler/eval/inputs.h"
#include "compiler/eval/pattern.h"
#include "compiler/eval/secret_access.h"
#include "compiler/eval/units.h"

namespace radl::passes {

using expr::Value;
using ValueKind = expr::Kind;

namespace {

// "4G" -> 4 with unit G; nullopt if it is not a number with or without a unit.
std::optional<Value> number_from_text(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) || text[end] == '.' ||
                               (end == 0 && text[end] == '-')))
    end++;
  std::string_view digits = text.substr(0, end), unit = text.substr(end);
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  if (!std::all_of(unit.begin(), unit.end(), [](unsigned char c) { return std::isalpha(c); }))
    return std::nullopt;
  int64_t whole = 0;
  auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
  if (error == std::errc() && last == digits.data() + digits.size())
    return Value::integer(whole, std::string(unit));
  double real = 0;
  auto [real_last, real_error] = std::from_chars(digits.data(), digits.data() + digits.size(), real);
  if (real_error == std::errc() && real_last == digits.data() + digits.size())
    return Value::real(real, std::string(unit));
  return std::nullopt;
}

std::optional<Value> plain_from_json(const ir::Json& json) {
  switch (json.type()) {
    case ir::Json::value_t::boolean:
      return Value::boolean(json.get<bool>());
    case ir::Json::value_t::number_integer:
      return Value::integer(json.get<int64_t>());
    case ir::Json::value_t::number_unsigned:
      if (json.get<uint64_t>() > INT64_MAX) return std::nullopt;
      return Value::integer(json.get<int64_t>());
    case ir::Json::value_t::number_float:
      return Value::real(json.get<double>());
    case ir::Json::value_t::string:
      return Value::string(json.get<std::string>());
    case ir::Json::value_t::array: {
      expr::Items items;
      for (const ir::Json& item : json) {
        auto value = plain_from_json(item);
        if (!value) return std::nullopt;
        items.push_back(std::move(*value));
      }
      return Value::list(std::move(items));
    }
    case ir::Json::value_t::object: {
      expr::Entries entries;
      for (const auto& [key, item] : json.items()) {
        auto value = plain_from_json(item);
        if (!value) return std::nullopt;
        entries.emplace(key, std::move(*value));
      }
      return Value::map(std::move(entries));
    }
    default:
      return std::nullopt;
  }
}

// Checked before parsing: values from outside must not be able to exhaust the stack.
bool too_deep(std::string_view text) { return json_shape(text).depth > kMaxInputDepth; }

std::optional<Value> list_from_text(const TypeSpec& type, std::string_view text) {
  if (!text.empty() && text.front() == '[') {
    if (too_deep(text)) return std::nullopt;
    ir::Json json = ir::Json::parse(text, nullptr, false);
    return json.is_discarded() ? std::nullopt : input_from_json(type, json);
  }
  expr::Items items;
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    std::string_view piece = text.substr(0, comma);
    auto item = type.element ? input_from_text(*type.element, piece) : std::nullopt;
    items.push_back(item ? std::move(*item) : Value::string(std::string(piece)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return Value::list(std::move(items));
}

}  // namespace

std::optional<Value> input_from_text(const TypeSpec& type, std::string_view text) {
  switch (type.kind) {
    case InputType::Integer:
    case InputType::Number:
    case InputType::Size:
    case InputType::Duration:
      return number_from_text(text);
    case InputType::Boolean:
      if (text == "yes" || text == "true") return Value::boolean(true);
      if (text == "no" || text == "false") return Value::boolean(false);
      return std::nullopt;
    case InputType::List:
      return list_from_text(type, text);
    case InputType::Map:
    case InputType::Object:
    case InputType::Options: {
      if (too_deep(text)) return std::nullopt;
      ir::Json json = ir::Json::parse(text, nullptr, false);
      return json.is_discarded() || !json.is_object() ? std::nullopt : input_from_json(type, json);
    }
    case InputType::System:
    case InputType::Systems:
      return std::nullopt;
    case InputType::String:
    case InputType::Any:
      return Value::string(std::string(text));
  }
  return std::nullopt;
}

namespace {

// The type of an entry of a map or object.
const TypeSpec* entry_type(const TypeSpec& type, const std::string& name) {
  if (type.element) return type.element.get();
  for (const TypeSpec::Field& field : type.fields)
    if (field.name == name) return &field.type;
  return nullptr;
}

// For an element or entry: keeps a value of a wrong type, so that fit_input() reports its position.
std::optional<Value> inner_from_json(const TypeSpec& type, const ir::Json& json) {
  if (json.is_null()) return Value::null();
  auto value = input_from_json(type, json);
  return value ? value : plain_from_json(json);
}

}  // namespace

std::optional<Value> input_from_json(const TypeSpec& type, const ir::Json& json) {
  // A string in JSON may hold what needs a unit: "memory": "4G".
  if (json.is_string() && type.kind != InputType::List) return input_from_text(type, json.get<std::string>());
  if (json.is_array() && type.element && type.kind == InputType::List) {
    expr::Items items;
    for (const ir::Json& item : json) {
      auto value = inner_from_json(*type.element, item);
      if (!value) return std::nullopt;
      items.push_back(std::move(*value));
    }
    return Value::list(std::move(items));
  }
  if (json.is_object() && (type.element || !type.fields.empty())) {
    expr::Entries entries;
    for (const auto& [key, item] : json.items()) {
      const TypeSpec* inner = entry_type(type, key);
      auto value = inner ? inner_from_json(*inner, item) : plain_from_json(item);
      if (!value) return std::nullopt;
      entries.emplace(key, std::move(*value));
    }
    return Value::map(std::move(entries));
  }
  return plain_from_json(json);
}

namespace {

bool has_type(InputType type, Value& value) {
  switch (type) {
    case InputType::Any:
      return value.kind() != ValueKind::Null && value.kind() != ValueKind::Namespace;
    case InputType::Integer:
      if (value.kind() == ValueKind::Real && value.unit().empty() &&
          value.as_real(expr::kPermitted) == std::floor(value.as_real(expr::kPermitted)) &&
          std::abs(value.as_real(expr::kPermitted)) < 9e15) {
        value = Value::integer(static_cast<int64_t>(value.as_real(expr::kPermitted))).taint(value);
      }
      return value.kind() == ValueKind::Integer && value.unit().empty();
    case InputType::Number:
      return value.is_number() && value.unit().empty();
    case InputType::Size:
      return value.is_number() && expr::size_factor_of_value(value.unit()).has_value();
    case InputType::Duration:
      return value.is_number() && expr::duration_factor(value.unit()).has_value();
    case InputType::String:
      return value.is_text() || value.kind() == ValueKind::Unknown;
    case InputType::Boolean:
      if (value.kind() == ValueKind::String &&
          (value.as_text(expr::kPermitted) == "yes" || value.as_text(expr::kPermitted) == "no")) {
        value = Value::boolean(value.as_text(expr::kPermitted) == "yes").taint(value);
      }
      return value.kind() == ValueKind::Boolean;
    case InputType::List:
      return value.kind() == ValueKind::List;
    case InputType::Map:
    case InputType::Object:
    case InputType::Options:
      return value.kind() == ValueKind::Map;
    case InputType::System:
      return value.kind() == ValueKind::System;
    case InputType::Systems:
      if (value.kind() == ValueKind::System) value = Value::list({value});
      if (value.kind() != ValueKind::List) return false;
      return std::all_of(value.items().begin(), value.items().end(),
                         [](const Value& v) { return v.kind() == ValueKind::System; });
  }
  return false;
}

// An input whose default is `none` may be left out, or given as `none`.
bool is_none(const ast::Expr* expression) {
  auto* reference = ast::as<ast::Reference>(expression);
  return reference != nullptr && reference->parts.size() == 1 && reference->parts[0].name.text == "none";
}

// Less, equal or more: -1, 0, 1.
int compared(InputType type, const Value& value, const Value& bound) {
  auto scale = [type](const Value& number) {
    return (type == InputType::Duration ? expr::duration_factor(number.unit())
                                        : expr::size_factor_of_value(number.unit()))
        .value_or(1);
  };
  return expr::compare_numbers(value, scale(value), bound, scale(bound), expr::kPermitted);
}

// For messages: secrets are not shown.
std::string shown(const Value& value) {
  if (value.sensitive()) return "this value";
  auto text = expr::display(value);
  if (text && (value.is_number() || value.kind() == ValueKind::Boolean)) return *text;
  return text ? fmt::format("'{}'", *text) : std::string(expr::kind_name(value.kind()));
}

}  // namespace

namespace {

// Elements, entries and fields in the form that their types have. `path`: "input 'disks'[0].size".
class Fitter {
 public:
  Fitter(Span at, Diagnostics& diagnostics) : at_(at), diagnostics_(diagnostics) {}

  Value fit(const TypeSpec& type, Value value, const std::string& path) {
    if (value.is_error()) return value;
    if (!has_type(type.kind, value))
      return wrong(fmt::format("{} is of type {}, not {}", path, type.name(), shown(value)));
    if (type.element && value.kind() == ValueKind::List) {
      expr::Items items;
      for (const Value& item : value.items()) {
        items.push_back(fit(*type.element, item, fmt::format("{}[{}]", path, items.size())));
        if (items.back().is_error()) return {};
      }
      return Value::list(std::move(items));
    }
    if (type.kind == InputType::Object) return fit_fields(type, value, path);
    if (type.resource != nullptr) return fit_options(*type.resource, value, path);
    if (type.element && value.kind() == ValueKind::Map) {
      expr::Entries entries;
      for (const auto& [key, item] : value.entries()) {
        Value fitted = fit(*type.element, item, fmt::format("{}.{}", path, key));
        if (fitted.is_error()) return {};
        entries.emplace(key, std::move(fitted));
      }
      return Value::map(std::move(entries));
    }
    return value;
  }

 private:
  Value wrong(std::string message, std::string help = {}) {
    diagnostics_.report(DiagCode::InputValue, at_, std::move(message)).with_help(std::move(help));
    return {};
  }

  Value fit_fields(const TypeSpec& type, const Value& value, const std::string& path) {
    expr::Entries entries;
    std::vector<std::string> names;
    for (const TypeSpec::Field& field : type.fields) {
      names.push_back(field.name);
      auto given = value.entries().find(field.name);
      bool absent = given == value.entries().end() || given->second.kind() == ValueKind::Null;
      if (absent && !field.optional) return wrong(fmt::format("{} lacks '{}'", path, field.name));
      Value item = absent ? field.otherwise.value_or(Value::null()) : given->second;
      if (item.kind() != ValueKind::Null)
        item = fit(field.type, std::move(item), fmt::format("{}.{}", path, field.name));
      if (item.is_error()) return {};
      entries.emplace(field.name, std::move(item));
    }
    for (const auto& [key, item] : value.entries()) {
      if (entries.contains(key)) continue;
      std::string near = nearest(key, names);
      return wrong(fmt::format("{} has no '{}'", path, key),
                   near.empty() ? fmt::format("entries: {}", fmt::join(names, ", "))
                                : fmt::format("did you mean '{}'?", near));
    }
    return Value::map(std::move(entries));
  }

  Value fit_options(const ir::ResourceType& type, const Value& value, const std::string& path) {
    std::vector<std::string> names;
    for (const ir::Property& property : type.properties) names.emplace_back(property.name);
    for (const auto& [key, item] : value.entries()) {
      if (ir::find_property(type, key) != nullptr) continue;
      std::string near = nearest(key, names);
      return wrong(fmt::format("{}: a {} has no property '{}'", path, type.name, key),
                   near.empty() ? fmt::format("properties: {}", fmt::join(names, ", "))
                                : fmt::format("did you mean '{}'?", near));
    }
    return value;
  }

  Span at_;
  Diagnostics& diagnostics_;
};

}  // namespace

Value fit_input(const InputDeclaration& declaration, std::string_view name, Value value, Span at,
                Diagnostics& diagnostics, std::string_view source) {
  const std::string input = fmt::format("{}{}input '{}'", source, source.empty() ? "" : ": ", name);
  auto wrong = [&](std::string message, std::string help = {}) {
    diagnostics.report(DiagCode::InputValue, at, std::move(message)).with_help(std::move(help));
    return Value();
  };
  if (value.is_error()) return value;
  if (value.kind() == ValueKind::Null && is_none(declaration.default_value)) return value;
  if (!has_type(declaration.type, value)) {
    std::string_view article = declaration.type == InputType::Systems ? ""
                               : declaration.type == InputType::Integer || declaration.type == InputType::Any
                                   ? "an "
                                   : "a ";
    bool plain = declaration.type == InputType::String && value.is_number() && value.unit().empty();
    const bool system = declaration.type == InputType::System || declaration.type == InputType::Systems;
    return wrong(fmt::format("{} takes {}{}, not {}", input, article, declaration.spec.name(), shown(value)),
                 plain                       ? "a number has `type = 'integer'` or `type = 'number'`"
                 : system && value.is_text() ? "a system is written without quotes: `nodes = worker`"
                                             : "");
  }
  if (declaration.spec.element || declaration.spec.resource || declaration.type == InputType::Object) {
    value = Fitter(at, diagnostics).fit(declaration.spec, std::move(value), input);
    if (value.is_error()) return value;
  }
  if (value.is_number()) {
    if (declaration.min && compared(declaration.type, value, *declaration.min) < 0) {
      return wrong(fmt::format("{} is at least {}; {} is less", input, *expr::display(*declaration.min),
                               shown(value)));
    }
    if (declaration.max && compared(declaration.type, value, *declaration.max) > 0) {
      return wrong(
          fmt::format("{} is at most {}; {} is more", input, *expr::display(*declaration.max), shown(value)));
    }
  }
  if (!declaration.one_of.empty() &&
      std::none_of(declaration.one_of.begin(), declaration.one_of.end(),
                   [&](const Value& each) { return expr::equal(each, value, expr::kPermitted); })) {
    std::vector<std::string> choices;
    for (const Value& each : declaration.one_of) choices.push_back(expr::display(each).value_or("?"));
    return wrong(fmt::format("{} is one of {}; {} is not", input, fmt::join(choices, ", "), shown(value)));
  }
  if (!declaration.pattern.empty() && value.kind() == ValueKind::String) {
    if (value.as_text(expr::kPermitted).size() > expr::Pattern::kMostText)
      return wrong(fmt::format("{} is longer than the {} bytes that a pattern is matched with", input,
                               expr::Pattern::kMostText));
    auto pattern = expr::Pattern::compile(declaration.pattern);
    if (!pattern.ok() || !pattern->matches(value.as_text(expr::kPermitted))) {
      return wrong(
          fmt::format("{} does not match the pattern {}: {}", input, declaration.pattern, shown(value)));
    }
  }
  return value;
}

}  // namespace radl::passes
