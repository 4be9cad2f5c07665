// What `input` blocks declare.
#include "compiler/eval/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/text.h"
#include "compiler/eval/pattern.h"
#include "compiler/eval/units.h"

namespace radl::passes {

using expr::Value;
using ValueKind = expr::Kind;

namespace {

constexpr std::pair<InputType, std::string_view> kTypes[] = {
    {InputType::Any, "any"},           {InputType::Integer, "integer"}, {InputType::Number, "number"},
    {InputType::String, "string"},     {InputType::Boolean, "boolean"}, {InputType::Size, "size"},
    {InputType::Duration, "duration"}, {InputType::List, "list"},       {InputType::Map, "map"},
    {InputType::System, "system"},     {InputType::Systems, "systems"}, {InputType::Object, "object"},
    {InputType::Options, "options"},
};

class Declaring {
 public:
  Declaring(const ast::FeatureBlock& block, Diagnostics& diagnostics,
            const std::function<Value(const ast::Expr&)>& evaluate)
      : block_(block), diagnostics_(diagnostics), evaluate_(evaluate) {}

  InputDeclaration run() {
    std::map<std::string_view, const ast::Feature*> seen;
    for (const ast::Feature* feature : block_.body.items) {
      if (feature->form == ast::FeatureKind::Error) {
        declaration_.unread = true;
        continue;
      }
      if (feature->form != ast::FeatureKind::Simple || feature->op != ast::Op::Eq) {
        wrong(feature->span, "an input takes features written with `=`");
        continue;
      }
      auto [first, fresh] = seen.emplace(feature->name.text, feature);
      if (!fresh) {
        wrong(feature->name.span, fmt::format("duplicate '{}'", feature->name.text))
            .note(first->second->span, "first here");
        continue;
      }
      take(*feature);
    }
    warn_secret();
    check_bounds();
    return std::move(declaration_);
  }

 private:
  Diagnostic& wrong(Span at, std::string message) {
    return diagnostics_.report(DiagCode::InputDeclaration, at, std::move(message));
  }

  // What no value could meet, or what says nothing about values of the type.
  void check_bounds() {
    auto in_base = [](const Value& bound) {
      return bound.as_real() * expr::size_factor_of_value(bound.unit())
                                   .value_or(expr::duration_factor(bound.unit()).value_or(1));
    };
    bool numeric = declaration_.type == InputType::Integer || declaration_.type == InputType::Number ||
                   declaration_.type == InputType::Size || declaration_.type == InputType::Duration ||
                   declaration_.type == InputType::Any;
    if (declaration_.min && declaration_.max && in_base(*declaration_.min) > in_base(*declaration_.max))
      wrong(block_.name.span, "no value is at least `min` and at most `max`");
    if ((declaration_.min || declaration_.max) && !numeric)
      wrong(block_.name.span, fmt::format("`min` and `max` are for numbers; '{}' is of type {}",
                                          block_.name.text, declaration_.spec.name()));
    if (!declaration_.pattern.empty() && declaration_.type != InputType::String &&
        declaration_.type != InputType::Any)
      wrong(block_.name.span, fmt::format("`pattern` is for strings; '{}' is of type {}", block_.name.text,
                                          declaration_.spec.name()));
    for (const Value* bound :
         {declaration_.min ? &*declaration_.min : nullptr, declaration_.max ? &*declaration_.max : nullptr}) {
      if (bound == nullptr || bound->unit().empty()) continue;
      bool size = declaration_.type == InputType::Size && !expr::size_factor_of_value(bound->unit());
      bool time = declaration_.type == InputType::Duration && !expr::duration_factor(bound->unit());
      if (size || time || declaration_.type == InputType::Integer || declaration_.type == InputType::Number)
        wrong(block_.name.span, fmt::format("'{}' cannot be a bound of the type {}", *expr::display(*bound),
                                            declaration_.spec.name()));
    }
    if (declaration_.message != nullptr && declaration_.condition == nullptr)
      wrong(declaration_.message->span, "`message` goes with `condition`");
  }

  // Whoever reads the file knows it.
  void warn_secret() {
    auto* text = ast::as<ast::String>(declaration_.default_value);
    if (!declaration_.sensitive || !text || text->text.empty() || !text->parts.empty()) return;
    diagnostics_
        .report(DiagCode::PlainSecret, text->span,
                fmt::format("the default of the secret '{}' is written in plain text", block_.name.text))
        .with_help("omit the default: radlc asks for the value, or takes it from a file or the environment");
  }

  void take(const ast::Feature& feature) {
    static const std::vector<std::string> names = {"type",      "default", "description", "min",
                                                   "max",       "one_of",  "pattern",     "sensitive",
                                                   "condition", "message"};
    std::string_view name = feature.name.text;
    if (name == "default") declaration_.default_value = feature.value;
    if (name == "condition") declaration_.condition = feature.value;
    if (name == "message") declaration_.message = feature.value;
    if (name == "default" || name == "condition" || name == "message") return;
    if (name == "type" && feature.value->kind != ast::Kind::String) {
      declaration_.spec = type_of(*feature.value);
      declaration_.type = declaration_.spec.kind;
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
    if (value.sensitive()) {
      diagnostics_.report(DiagCode::SecretShown, feature.value->span,
                          "what an input takes is shown in messages: it cannot depend on a secret");
      return;
    }
    if (name == "type") take_type(feature, value);
    if (name == "description") declaration_.description = text_of(feature, value);
    if (name == "pattern") take_pattern(feature, value);
    if (name == "min" || name == "max")
      take_bound(feature, value, name == "min" ? declaration_.min : declaration_.max);
    if (name == "one_of") take_choice(feature, value);
    if (name == "sensitive") take_sensitive(feature, value);
  }

  std::string text_of(const ast::Feature& feature, const Value& value) {
    if (value.kind() == ValueKind::String) return value.as_text();
    wrong(feature.value->span, fmt::format("'{}' takes a string", feature.name.text));
    return {};
  }

  void take_type(const ast::Feature& feature, const Value& value) {
    std::string name = text_of(feature, value);
    if (!name.empty()) declaration_.spec = named_type(name, feature.value->span);
    declaration_.type = declaration_.spec.kind;
  }

  // What other languages call a type.
  static std::string_view type_here(std::string_view name) {
    static constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
        {"int", "integer"},   {"long", "integer"}, {"float", "number"}, {"double", "number"},
        {"str", "string"},    {"bool", "boolean"}, {"array", "list"},   {"set", "list"},
        {"tuple", "list"},    {"dict", "map"},     {"hash", "map"},     {"record", "object"},
        {"struct", "object"}, {"bytes", "size"},   {"time", "duration"}};
    for (const auto& [other, ours] : kOthers)
      if (other == name) return ours;
    return {};
  }

  TypeSpec named_type(std::string_view name, Span at) {
    TypeSpec spec;
    auto type = find_input_type(name);
    spec.kind = type.value_or(InputType::Any);  // what it is given says nothing about it then
    if (type == InputType::Object || type == InputType::Options)
      wrong(at, fmt::format("'{}' needs to say of what: {}", name,
                            type == InputType::Object ? "object(cpu = integer, zone = string)"
                                                      : "options(training)"));
    if (type) return spec;
    std::vector<std::string> names;
    for (const auto& [each, word] : kTypes) names.emplace_back(word);
    std::string near(type_here(name));
    if (near.empty()) near = nearest(name, names);
    wrong(at, fmt::format("there is no type '{}'", name))
        .with_help(near.empty() ? fmt::format("types: {}", fmt::join(names, ", "))
                                : fmt::format("did you mean '{}'?", near));
    return spec;
  }

  // integer, list(string), object(cpu = integer, zone = optional(string, 'a')).
  TypeSpec type_of(const ast::Expr& written) {
    if (auto* text = ast::as<ast::String>(&written); text != nullptr && text->parts.empty())
      return named_type(text->text, text->span);
    if (auto* name = ast::as<ast::Reference>(&written); name != nullptr && name->parts.size() == 1)
      return named_type(name->parts[0].name.text, name->span);
    auto* call = ast::as<ast::Call>(&written);
    if (call == nullptr) {
      if (written.kind != ast::Kind::ErrorValue)
        wrong(written.span, "a type is a name such as integer or list(string)");
      return {InputType::Any, nullptr, {}, nullptr};
    }
    return composed_type(*call);
  }

  TypeSpec composed_type(const ast::Call& call) {
    TypeSpec spec;
    std::string_view name = call.function.text;
    auto type = find_input_type(name);
    spec.kind = type.value_or(InputType::Any);
    if (type == InputType::Object && call.arguments.empty()) {
      for (const ast::Entry& field : call.named) add_field(field, spec);
    } else if ((type == InputType::List || type == InputType::Map) && call.arguments.size() == 1 &&
               call.named.empty()) {
      spec.element = std::make_shared<const TypeSpec>(type_of(*call.arguments[0]));
    } else if (type == InputType::Options && call.arguments.size() == 1 && call.named.empty()) {
      options_type(*call.arguments[0], spec);
    } else {
      wrong(call.span, fmt::format("there is no type '{}' of this form", name))
          .with_help("types with parts: list(TYPE), map(TYPE), object(NAME = TYPE, ...), options(RESOURCE)");
    }
    return spec;
  }

  void options_type(const ast::Expr& written, TypeSpec& spec) {
    std::string_view name;
    if (auto* reference = ast::as<ast::Reference>(&written); reference && reference->parts.size() == 1)
      name = reference->parts[0].name.text;
    if (auto* text = ast::as<ast::String>(&written)) name = text->text;
    spec.resource = ir::find_resource_type(name);
    if (spec.resource == nullptr) wrong(written.span, fmt::format("there is no type of resource '{}'", name));
  }

  void add_field(const ast::Entry& entry, TypeSpec& spec) {
    TypeSpec::Field field;
    field.name = std::string(entry.name.text);
    auto* call = ast::as<ast::Call>(entry.value);
    field.optional = call != nullptr && call->function.text == "optional";
    if (!field.optional) {
      field.type = type_of(*entry.value);
    } else if (call->arguments.empty() || call->arguments.size() > 2 || !call->named.empty()) {
      wrong(call->span, "optional() takes a type, and the value where none is given");
    } else {
      field.type = type_of(*call->arguments[0]);
      if (call->arguments.size() == 2) {
        Value value = evaluate_(*call->arguments[1]);
        if (!value.is_error()) field.otherwise = value;
      }
    }
    for (const TypeSpec::Field& other : spec.fields)
      if (other.name == field.name) wrong(entry.span, fmt::format("duplicate '{}'", field.name));
    spec.fields.push_back(std::move(field));
  }

  void take_pattern(const ast::Feature& feature, const Value& value) {
    declaration_.pattern = text_of(feature, value);
    auto pattern = expr::Pattern::compile(declaration_.pattern);
    if (pattern.ok()) return;
    wrong(feature.value->span, pattern.status().message()).with_help(pattern.status().hint());
    declaration_.pattern.clear();
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
    else if (value.kind() == ValueKind::String && (value.as_text() == "yes" || value.as_text() == "no"))
      declaration_.sensitive = value.as_text() == "yes";
    else
      wrong(feature.value->span, "'sensitive' is a boolean (yes or no)");
  }

  const ast::FeatureBlock& block_;
  Diagnostics& diagnostics_;
  const std::function<Value(const ast::Expr&)>& evaluate_;
  InputDeclaration declaration_;
};

std::string_view word_of(InputType type) {
  for (const auto& [each, name] : kTypes) {
    if (each == type) return name;
  }
  return "?";
}

}  // namespace

std::optional<InputType> find_input_type(std::string_view name) {
  if (name == "text") return InputType::String;
  for (const auto& [type, each] : kTypes) {
    if (each == name) return type;
  }
  return std::nullopt;
}

std::string TypeSpec::name() const {
  if (resource != nullptr) return fmt::format("options({})", resource->name);
  if (element != nullptr) return fmt::format("{}({})", word_of(kind), element->name());
  if (kind != InputType::Object) return std::string(word_of(kind));
  std::string parts;
  for (const Field& field : fields)
    parts += fmt::format("{}{} = {}", parts.empty() ? "" : ", ", field.name, field.type.name());
  return fmt::format("object({})", parts);
}

InputDeclaration declare_input(const ast::FeatureBlock& block, Diagnostics& diagnostics,
                               const std::function<Value(const ast::Expr&)>& evaluate) {
  return Declaring(block, diagnostics, evaluate).run();
}

}  // namespace radl::passes
