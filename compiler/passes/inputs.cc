#include "compiler/passes/inputs.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "common/files.h"
#include "common/text.h"
#include "compiler/expr/units.h"

namespace radl::passes {

using expr::Value;
using ValueKind = expr::Kind;

namespace {

constexpr std::pair<InputType, std::string_view> kTypes[] = {
    {InputType::Any, "any"},           {InputType::Integer, "integer"}, {InputType::Number, "number"},
    {InputType::Text, "text"},         {InputType::Boolean, "boolean"}, {InputType::Size, "size"},
    {InputType::Duration, "duration"}, {InputType::List, "list"},       {InputType::Map, "map"},
    {InputType::System, "system"},     {InputType::Systems, "systems"},
};

class Declaring {
 public:
  Declaring(const ast::Block& sentence, Diagnostics& diagnostics,
            const std::function<Value(const ast::Expr&)>& evaluate)
      : sentence_(sentence), diagnostics_(diagnostics), evaluate_(evaluate) {}

  InputDeclaration run() {
    std::map<std::string_view, const ast::Feature*> seen;
    for (const ast::Feature* feature : sentence_.body.items) {
      if (feature->form == ast::FeatureKind::Error) continue;
      if (feature->form != ast::FeatureKind::Simple || feature->op != ast::Op::Eq) {
        wrong(feature->span, "an input takes features written with `=`");
        continue;
      }
      auto [first, fresh] = seen.emplace(feature->name.text, feature);
      if (!fresh) {
        wrong(feature->name.span, fmt::format("'{}' stands twice", feature->name.text))
            .note(first->second->span, "first here");
        continue;
      }
      take(*feature);
    }
    return std::move(declaration_);
  }

 private:
  Diagnostic& wrong(Span at, std::string message) {
    return diagnostics_.report(DiagCode::InputDeclaration, at, std::move(message));
  }

  void take(const ast::Feature& feature) {
    static const std::vector<std::string> names = {"type", "default", "description", "min",
                                                   "max",  "one_of",  "pattern",     "sensitive"};
    std::string_view name = feature.name.text;
    if (name == "default") {
      declaration_.default_value = feature.value;
      return;
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      auto& diagnostic = wrong(feature.name.span, fmt::format("an input has no feature '{}'", name));
      std::string near = nearest(name, names);
      diagnostic.with_help(near.empty() ? fmt::format("features: {}", fmt::join(names, ", "))
                                        : fmt::format("did you mean '{}'?", near));
      return;
    }
    Value value = evaluate_(*feature.value);
    if (value.is_error()) return;
    if (name == "type") take_type(feature, value);
    if (name == "description") declaration_.description = text_of(feature, value);
    if (name == "pattern") take_pattern(feature, value);
    if (name == "min" || name == "max")
      take_bound(feature, value, name == "min" ? declaration_.min : declaration_.max);
    if (name == "one_of") take_choice(feature, value);
    if (name == "sensitive") take_sensitive(feature, value);
  }

  std::string text_of(const ast::Feature& feature, const Value& value) {
    if (value.kind() == ValueKind::Text) return value.as_text();
    wrong(feature.value->span, fmt::format("'{}' takes a text", feature.name.text));
    return {};
  }

  void take_type(const ast::Feature& feature, const Value& value) {
    std::string name = text_of(feature, value);
    if (auto type = find_input_type(name)) {
      declaration_.type = *type;
    } else if (!name.empty()) {
      std::vector<std::string> names;
      for (const auto& [each, word] : kTypes) names.emplace_back(word);
      declaration_.type = InputType::Any;  // what it is given says nothing about it then
      std::string near = nearest(name, names);
      wrong(feature.value->span, fmt::format("there is no type '{}'", name))
          .with_help(near.empty() ? fmt::format("types: {}", fmt::join(names, ", "))
                                  : fmt::format("did you mean '{}'?", near));
    }
  }

  void take_pattern(const ast::Feature& feature, const Value& value) {
    declaration_.pattern = text_of(feature, value);
    try {
      std::regex check(declaration_.pattern, std::regex::ECMAScript);
    } catch (const std::regex_error& error) {
      wrong(feature.value->span, "the pattern is not a regular expression");
      declaration_.pattern.clear();
    }
  }

  void take_bound(const ast::Feature& feature, const Value& value, std::optional<Value>& bound) {
    if (value.is_number())
      bound = value;
    else
      wrong(feature.value->span, fmt::format("'{}' takes a number", feature.name.text));
  }

  void take_choice(const ast::Feature& feature, const Value& value) {
    if (value.kind() == ValueKind::List && !value.items().empty())
      declaration_.one_of = value.items();
    else
      wrong(feature.value->span, "'one_of' takes a list with at least one element");
  }

  void take_sensitive(const ast::Feature& feature, const Value& value) {
    if (value.kind() == ValueKind::Boolean)
      declaration_.sensitive = value.as_boolean();
    else if (value.kind() == ValueKind::Text && (value.as_text() == "yes" || value.as_text() == "no"))
      declaration_.sensitive = value.as_text() == "yes";
    else
      wrong(feature.value->span, "'sensitive' is yes or no");
  }

  const ast::Block& sentence_;
  Diagnostics& diagnostics_;
  const std::function<Value(const ast::Expr&)>& evaluate_;
  InputDeclaration declaration_;
};

// "4G" -> 4 with unit G; nullopt when it is no number with (or without) a unit.
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
      return Value::text(json.get<std::string>());
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

// Depth is checked before parsing: values from outside must not be able to exhaust the stack.
std::optional<Value> structure_from_text(std::string_view text) {
  int depth = 0;
  for (char c : text) {
    if (c == '[' || c == '{') depth++;
    if (depth > 64) return std::nullopt;
  }
  ir::Json json = ir::Json::parse(text, nullptr, false);
  return json.is_discarded() ? std::nullopt : plain_from_json(json);
}

std::optional<Value> list_from_text(std::string_view text) {
  if (!text.empty() && text.front() == '[') return structure_from_text(text);
  expr::Items items;
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    items.push_back(Value::text(std::string(text.substr(0, comma))));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return Value::list(std::move(items));
}

}  // namespace

std::string_view input_type_name(InputType type) {
  for (const auto& [each, name] : kTypes) {
    if (each == type) return name;
  }
  return "?";
}

std::optional<InputType> find_input_type(std::string_view name) {
  if (name == "string") return InputType::Text;
  for (const auto& [type, each] : kTypes) {
    if (each == name) return type;
  }
  return std::nullopt;
}

InputDeclaration declare_input(const ast::Block& sentence, Diagnostics& diagnostics,
                               const std::function<Value(const ast::Expr&)>& evaluate) {
  return Declaring(sentence, diagnostics, evaluate).run();
}

std::optional<Value> input_from_text(InputType type, std::string_view text) {
  switch (type) {
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
      return list_from_text(text);
    case InputType::Map:
      return structure_from_text(text);
    case InputType::System:
    case InputType::Systems:
      return std::nullopt;
    case InputType::Text:
    case InputType::Any:
      return Value::text(std::string(text));
  }
  return std::nullopt;
}

std::optional<Value> input_from_json(InputType type, const ir::Json& json) {
  // A text in JSON may hold what needs a unit: "memory": "4G".
  if (json.is_string() && type != InputType::List) return input_from_text(type, json.get<std::string>());
  return plain_from_json(json);
}

namespace {

bool has_type(InputType type, Value& value) {
  switch (type) {
    case InputType::Any:
      return value.kind() != ValueKind::Null && value.kind() != ValueKind::Namespace;
    case InputType::Integer:
      if (value.kind() == ValueKind::Real && value.unit().empty() &&
          value.as_real() == std::floor(value.as_real()) && std::abs(value.as_real()) < 9e15) {
        value = Value::integer(static_cast<int64_t>(value.as_real())).taint(value);
      }
      return value.kind() == ValueKind::Integer && value.unit().empty();
    case InputType::Number:
      return value.is_number() && value.unit().empty();
    case InputType::Size:
      return value.is_number() && expr::size_factor(value.unit()).has_value();
    case InputType::Duration:
      return value.is_number() && expr::duration_factor(value.unit()).has_value();
    case InputType::Text:
      return value.is_text() || value.kind() == ValueKind::Unknown;
    case InputType::Boolean:
      if (value.kind() == ValueKind::Text && (value.as_text() == "yes" || value.as_text() == "no")) {
        value = Value::boolean(value.as_text() == "yes").taint(value);
      }
      return value.kind() == ValueKind::Boolean;
    case InputType::List:
      return value.kind() == ValueKind::List;
    case InputType::Map:
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

double in_base(InputType type, const Value& value) {
  auto factor =
      type == InputType::Duration ? expr::duration_factor(value.unit()) : expr::size_factor(value.unit());
  return value.as_real() * factor.value_or(1);
}

// For messages: secrets are not shown.
std::string shown(const Value& value) {
  if (value.sensitive()) return "this value";
  auto text = expr::display(value);
  return text ? fmt::format("'{}'", *text) : std::string(expr::kind_name(value.kind()));
}

}  // namespace

Value fit_input(const InputDeclaration& declaration, std::string_view name, Value value, Span at,
                Diagnostics& diagnostics) {
  auto wrong = [&](std::string message) {
    diagnostics.report(DiagCode::InputValue, at, std::move(message));
    return Value();
  };
  if (value.is_error()) return value;
  if (value.kind() == ValueKind::Null && is_none(declaration.default_value)) return value;
  if (!has_type(declaration.type, value)) {
    return wrong(
        fmt::format("input '{}' takes {} {}, not {}", name,
                    declaration.type == InputType::Integer || declaration.type == InputType::Any ? "an" : "a",
                    input_type_name(declaration.type), shown(value)));
  }
  if (value.is_number()) {
    double number = in_base(declaration.type, value);
    if (declaration.min && number < in_base(declaration.type, *declaration.min)) {
      return wrong(fmt::format("input '{}' is at least {}; {} is less", name,
                               *expr::display(*declaration.min), shown(value)));
    }
    if (declaration.max && number > in_base(declaration.type, *declaration.max)) {
      return wrong(fmt::format("input '{}' is at most {}; {} is more", name, *expr::display(*declaration.max),
                               shown(value)));
    }
  }
  if (!declaration.one_of.empty() &&
      std::none_of(declaration.one_of.begin(), declaration.one_of.end(),
                   [&](const Value& each) { return expr::equal(each, value); })) {
    std::vector<std::string> choices;
    for (const Value& each : declaration.one_of) choices.push_back(expr::display(each).value_or("?"));
    return wrong(
        fmt::format("input '{}' is one of {}; {} is not", name, fmt::join(choices, ", "), shown(value)));
  }
  if (!declaration.pattern.empty() && value.kind() == ValueKind::Text) {
    // The library's matcher is recursive: a bound on the text keeps it off the end of the stack.
    constexpr size_t kMost = 1024;
    if (value.as_text().size() > kMost)
      return wrong(
          fmt::format("input '{}' is longer than the {} bytes that a pattern is matched with", name, kMost));
    if (!std::regex_match(value.as_text(), std::regex(declaration.pattern))) {
      return wrong(fmt::format("input '{}' does not match the pattern {}: {}", name, declaration.pattern,
                               shown(value)));
    }
  }
  return value;
}

GivenInputs::GivenInputs(const CompileOptions& options, Diagnostics& diagnostics) {
  for (const auto& [variable, text] : options.environment) {
    if (variable.starts_with("RADL_INPUT_")) given_[variable.substr(11)] = Given{text, {}, variable};
  }
  for (const std::string& path : options.input_files) read_file(path, diagnostics);
  for (const auto& [name, text] : options.inputs) given_[name] = Given{text, {}, "--input"};
}

void GivenInputs::read_file(const std::string& path, Diagnostics& diagnostics) {
  auto wrong = [&](std::string message) {
    diagnostics.report(DiagCode::InputFile, {}, fmt::format("{}: {}", path, message));
  };
  auto content = radl::read_file(path, size_t{16} << 20);
  if (!content.ok()) return wrong(content.status().message());
  size_t start = content->find_first_not_of(" \t\r\n");
  if (start != content->npos && (*content)[start] == '{') {
    ir::Json json = ir::Json::parse(*content, nullptr, false);
    if (!json.is_object()) return wrong("this is not a JSON object");
    for (const auto& [name, value] : json.items()) given_[name] = Given{std::nullopt, value, path};
    return;
  }
  int line = 0;
  for (size_t from = 0; from < content->size();) {
    size_t to = std::min(content->find('\n', from), content->size());
    std::string_view text = std::string_view(*content).substr(from, to - from);
    from = to + 1;
    line++;
    auto trim = [](std::string_view piece) {
      size_t first = piece.find_first_not_of(" \t\r"), last = piece.find_last_not_of(" \t\r");
      return first == piece.npos ? std::string_view() : piece.substr(first, last - first + 1);
    };
    text = trim(text);
    if (text.empty() || text.front() == '#') continue;
    size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) {
      wrong(fmt::format("line {} is not NAME = VALUE", line));
      continue;
    }
    std::string_view value = trim(text.substr(equals + 1));
    if (value.size() >= 2 && (value.front() == '\'' || value.front() == '"') && value.back() == value.front())
      value = value.substr(1, value.size() - 2);
    given_[std::string(trim(text.substr(0, equals)))] = Given{std::string(value), {}, path};
  }
}

const GivenInputs::Given* GivenInputs::find(std::string_view name) const {
  auto found = given_.find(name);
  return found == given_.end() ? nullptr : &found->second;
}

std::vector<std::pair<std::string, std::string>> GivenInputs::explicit_names() const {
  std::vector<std::pair<std::string, std::string>> names;
  for (const auto& [name, given] : given_) {
    if (!given.source.starts_with("RADL_INPUT_")) names.emplace_back(name, given.source);
  }
  return names;
}

}  // namespace radl::passes
