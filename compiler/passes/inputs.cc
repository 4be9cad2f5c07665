// What `input` blocks declare.
#include "compiler/passes/inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "compiler/expr/pattern.h"

namespace radl::passes {

using expr::Value;
using ValueKind = expr::Kind;

namespace {

constexpr std::pair<InputType, std::string_view> kTypes[] = {
    {InputType::Any, "any"},           {InputType::Integer, "integer"}, {InputType::Number, "number"},
    {InputType::String, "string"},     {InputType::Boolean, "boolean"}, {InputType::Size, "size"},
    {InputType::Duration, "duration"}, {InputType::List, "list"},       {InputType::Map, "map"},
    {InputType::System, "system"},     {InputType::Systems, "systems"},
};

class Declaring {
 public:
  Declaring(const ast::FeatureBlock& block, Diagnostics& diagnostics,
            const std::function<Value(const ast::Expr&)>& evaluate)
      : block_(block), diagnostics_(diagnostics), evaluate_(evaluate) {}

  InputDeclaration run() {
    std::map<std::string_view, const ast::Feature*> seen;
    for (const ast::Feature* feature : block_.body.items) {
      if (feature->form == ast::FeatureKind::Error) continue;
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
    return std::move(declaration_);
  }

 private:
  Diagnostic& wrong(Span at, std::string message) {
    return diagnostics_.report(DiagCode::InputDeclaration, at, std::move(message));
  }

  // Whoever reads the file knows it.
  void warn_secret() {
    auto* text = ast::as<ast::String>(declaration_.default_value);
    if (!declaration_.sensitive || !text || text->text.empty() || !text->parts.empty()) return;
    diagnostics_
        .report(DiagCode::PlainSecret, text->span,
                fmt::format("the default of the secret '{}' is written in plain text", block_.name.text))
        .with_help("leave the default out: the value is asked for, or given by a file or the environment");
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
    if (value.kind() == ValueKind::String) return value.as_text();
    wrong(feature.value->span, fmt::format("'{}' takes a string", feature.name.text));
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

}  // namespace

std::string_view input_type_name(InputType type) {
  for (const auto& [each, name] : kTypes) {
    if (each == type) return name;
  }
  return "?";
}

std::optional<InputType> find_input_type(std::string_view name) {
  if (name == "text") return InputType::String;
  for (const auto& [type, each] : kTypes) {
    if (each == name) return type;
  }
  return std::nullopt;
}

InputDeclaration declare_input(const ast::FeatureBlock& block, Diagnostics& diagnostics,
                               const std::function<Value(const ast::Expr&)>& evaluate) {
  return Declaring(block, diagnostics, evaluate).run();
}

}  // namespace radl::passes
