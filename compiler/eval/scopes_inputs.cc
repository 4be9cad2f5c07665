// Inputs: declared, given, resolved when first asked for.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/suggestion.h"
#include "common/text.h"
#include "compiler/eval/mentions.h"
#include "compiler/eval/properties.h"
#include "compiler/eval/scope_data.h"
#include "compiler/eval/secret_access.h"
#include "compiler/syntax/renamed.h"

namespace radl::passes {

void Scopes::declare(const Instance& instance) {
  Scope& here = scope(instance);
  if (std::exchange(here.declared, true)) return;
  for (const auto& [name, block] : instance.inputs) {
    auto* feature_block = ast::as<ast::FeatureBlock>(block);
    if (feature_block == nullptr) continue;
    Slot& slot = here.slots[name];
    slot.block = feature_block;
    slot.declaration = declare_input(*feature_block, diagnostics_,
                                     [&](const ast::Expr& e) { return evaluate(e, instance); });
  }
  if (instance.use != nullptr) check_given_to_module(instance);
}

void Scopes::check_given_to_module(const Instance& instance) {
  Scope& here = scope(instance);
  for (const ast::Feature* feature : instance.use->body.items) {
    if (feature->form == ast::FeatureKind::Error) continue;
    if (feature->form != ast::FeatureKind::Simple || feature->op != ast::Op::Eq) {
      diagnostics_.report(DiagCode::InputValue, feature->span, "inputs of a module are given with `=`");
      continue;
    }
    auto found = here.slots.find(feature->name.text);
    if (found == here.slots.end() && give_option(here, *feature)) continue;
    if (found == here.slots.end()) {
      auto& diagnostic = diagnostics_.report(
          DiagCode::UnknownInput, feature->name.span,
          fmt::format("module '{}' has no input '{}'", instance.use->module->text, feature->name.text));
      std::vector<std::string> names = Scope::keys(instance.inputs);
      for (const auto& [name, slot] : here.slots)
        if (slot.declaration.spec.resource)
          for (const ir::Property& property : slot.declaration.spec.resource->properties)
            names.emplace_back(property.name);
      std::string near(renamed_input(instance.use->module->text, feature->name.text));
      if (!near.empty())
        diagnostic.with_help(renamed_help(near));
      else if (near = suggestion(feature->name.text, names); !near.empty())
        diagnostic.with_help(fmt::format("did you mean '{}'?", near));
      // A computed name is one string that makes several names.
      if (!near.empty() && feature->name.span.size() == feature->name.text.size())
        diagnostic.fix(fmt::format("write '{}'", near), feature->name.span, near);
      continue;
    }
    if (found->second.given != nullptr) {
      diagnostics_
          .report(DiagCode::NameClash, feature->name.span,
                  fmt::format("input '{}' is given more than once", feature->name.text))
          .note(found->second.given->span, "first given here");
      continue;
    }
    found->second.given = feature->value;
  }
}

// `learning_rate = 0.1` for a module that declares no such input but one of type options(training).
bool Scopes::give_option(Scope& here, const ast::Feature& feature) {
  std::vector<std::string_view> names;
  Slot* taken = nullptr;
  for (auto& [name, slot] : here.slots) {
    const ir::ResourceType* resource = slot.declaration.spec.resource;
    if (resource == nullptr || ir::find_property(*resource, feature.name.text) == nullptr) continue;
    names.push_back(name);
    taken = &slot;
  }
  if (names.empty()) return false;
  if (names.size() > 1) {
    diagnostics_
        .report(DiagCode::NameClash, feature.name.span,
                fmt::format("'{}' may belong to the inputs {}", feature.name.text, fmt::join(names, ", ")))
        .with_help(fmt::format("name the input: {} = {{ {} = .. }}", names[0], feature.name.text));
    return true;
  }
  for (const ast::Feature* other : taken->fields) {
    if (other->name.text != feature.name.text) continue;
    diagnostics_
        .report(DiagCode::NameClash, feature.name.span,
                fmt::format("'{}' is given more than once", feature.name.text))
        .note(other->span, "first given here");
    return true;
  }
  taken->fields.push_back(&feature);
  return true;
}

// The map of an input of type options(...): what is given as one, and what is given one by one.
Value Scopes::options_value(const Slot& slot, const Instance& instance, std::string_view name) {
  expr::Entries entries;
  if (slot.given != nullptr) {
    Value whole = evaluate(*slot.given, *instance.parent);
    if (whole.is_error()) return {};
    if (whole.kind() == ValueKind::Map) entries = whole.entries();
    if (whole.kind() != ValueKind::Map && whole.kind() != ValueKind::Null)
      return fit_input(slot.declaration, name, std::move(whole), slot.given->span, diagnostics_);
  }
  for (const ast::Feature* field : slot.fields) {
    Value value = evaluate(*field->value, *instance.parent);
    if (value.is_error()) return {};
    if (entries.contains(std::string(field->name.text))) {
      diagnostics_.report(DiagCode::NameClash, field->name.span,
                          fmt::format("'{}' is given here and in '{}'", field->name.text, name));
      return {};
    }
    if (value.kind() == ValueKind::Null) continue;  // as if it were not written
    const ir::Property* property = ir::find_property(*slot.declaration.spec.resource, field->name.text);
    if (!fits_property(*property, value, field->value->span, diagnostics_)) return {};
    entries.emplace(std::string(field->name.text), std::move(value));
  }
  Span at = slot.given ? slot.given->span : slot.fields.empty() ? instance.use->span : slot.fields[0]->span;
  return fit_input(slot.declaration, name, Value::map(std::move(entries)), at, diagnostics_);
}

void Scopes::resolve_inputs() {
  expanded_ = true;
  visit(program_, [&](const Instance& instance) {
    for (const auto& [name, block] : instance.systems) known_systems_.insert(instance.full(name));
  });
  visit(program_, [&](const Instance& instance) { declare(instance); });
  for (const auto& [name, source] : given_.explicit_names()) {
    if (program_.inputs.contains(name)) continue;
    // RADL 1's @input.NAME@ is declared by its use; the pass `read` has checked these.
    if (program_.trees.empty() || program_.trees.front()->dialect != ast::Dialect::Radl2) continue;
    auto& diagnostic = diagnostics_.report(DiagCode::UnknownInput, {},
                                           fmt::format("{}: the program has no input '{}'", source, name));
    std::string near = nearest(name, Scope::keys(program_.inputs));
    if (!near.empty()) diagnostic.with_help(fmt::format("did you mean '{}'?", near));
  }
  visit(program_, [&](const Instance& instance) {
    for (auto& [name, slot] : scope(instance).slots) {
      if (slot.block != nullptr) resolve_slot(slot, instance, name, slot.block->name.span);
    }
  });
}

Value Scopes::input(const Instance& instance, std::string_view name, Span at) {
  Slot& slot = scope(instance).slots[name];
  slot.used = true;
  if (slot.block == nullptr) return {};  // asked for while inputs are being declared
  return resolve_slot(slot, instance, name, at);
}

Value Scopes::resolve_slot(Slot& slot, const Instance& instance, std::string_view name, Span at) {
  std::string what = named_in(fmt::format("input '{}'", name), instance);
  if (slot.state == SlotState::Busy) return cycle(what, at);
  if (slot.state == SlotState::Done) return slot.value;
  WithinUse within(diagnostics_, instance.used_from);
  slot.state = SlotState::Busy;
  const Working working(*this, std::move(what), at);
  slot.value = instance.parent == nullptr ? program_value(slot, name) : module_value(slot, instance, name);
  if (slot.declaration.sensitive && !slot.value.is_error() && !slot.value.sensitive()) {
    slot.value.mark_sensitive(
        fmt::format("{}input.{}", instance.prefix.empty() ? "" : instance.prefix + ".", name));
  }
  slot.state = SlotState::Done;
  return slot.value;
}

Value Scopes::program_value(Slot& slot, std::string_view name) {
  const InputDeclaration& declaration = slot.declaration;
  Span at = slot.block->name.span;
  auto fitted = [&](Value value, const std::string& source) {
    if (declaration.sensitive) value.mark_sensitive();
    value = fit_input(declaration, name, std::move(value), at, diagnostics_, source);
    if (declaration.sensitive && !value.is_error()) value.mark_sensitive("input." + std::string(name));
    return value;
  };
  auto from_text = [&](const std::string& text, const std::string& source) {
    std::optional<Value> value;
    if (declaration.type == InputType::System || declaration.type == InputType::Systems) {
      if (!scope(program_).bring(ast::Kind::System, text, at)) return Value();
      if (known_systems_.contains(text) || (!expanded_ && program_.systems.contains(text)))
        value = Value::system(text);
    } else {
      value = input_from_text(declaration.spec, text);
    }
    if (!value) {
      diagnostics_.report(
          DiagCode::InputValue, at,
          fmt::format("{}: input '{}' is of type {}{}", source, name, declaration.spec.name(),
                      declaration.sensitive ? "; the value is not" : fmt::format(", '{}' is not", text)));
      return Value();
    }
    return fitted(std::move(*value), source);
  };
  if (const GivenInputs::Given* given = given_.find(name)) {
    if (given->text) return from_text(*given->text, given->source);
    auto value = input_from_json(declaration.spec, given->json);
    if (value) return fitted(std::move(*value), given->source);
    diagnostics_.report(
        DiagCode::InputValue, at,
        fmt::format("{}: input '{}' is of type {}", given->source, name, declaration.spec.name()));
    return {};
  }
  if (declaration.default_value != nullptr) {
    return fit_input(declaration, name, evaluate(*declaration.default_value, program_),
                     declaration.default_value->span, diagnostics_);
  }
  if (options_.ask) {
    if (auto text = options_.ask(std::string(name), declaration.description, declaration.sensitive))
      return from_text(*text, "your answer");
  }
  if (!options_.inputs_may_be_missing && !declaration.unread && !given_.unread()) {
    diagnostics_.report(DiagCode::InputMissing, at, fmt::format("input '{}' has no value", name))
        .with_help(
            declaration.sensitive
                ? fmt::format("give it in the environment, as RADL_INPUT_{}, or in an --input-file: all "
                              "users of this computer see command lines",
                              name)
                : fmt::format("give it with --input {}=VALUE, RADL_INPUT_{}=VALUE or a default", name, name));
  }
  Value missing;  // nothing more is said about it, unless it would be shown
  if (declaration.sensitive) missing.mark_sensitive("input." + std::string(name));
  return missing;
}

Value Scopes::module_value(Slot& slot, const Instance& instance, std::string_view name) {
  if (slot.declaration.spec.resource != nullptr && (!slot.fields.empty() || slot.given != nullptr))
    return options_value(slot, instance, name);
  if (slot.given != nullptr)
    return fit_input(slot.declaration, name, evaluate(*slot.given, *instance.parent), slot.given->span,
                     diagnostics_);
  if (slot.declaration.default_value != nullptr) {
    const ast::Expr& expression = *slot.declaration.default_value;
    return fit_input(slot.declaration, name, evaluate(expression, instance), expression.span, diagnostics_);
  }
  if (slot.declaration.unread) return {};
  // Given under a misspelt name, which was reported.
  for (const ast::Feature* feature : instance.use->body.items)
    if (diagnostics_.has(DiagCode::UnknownInput) && feature->name.text != name &&
        edit_distance(feature->name.text, name, 3) <= 1)
      return {};
  diagnostics_
      .report(DiagCode::InputMissing, instance.use->span,
              fmt::format("module '{}' needs a value for its input '{}'", instance.use->module->text, name))
      .note(slot.block->name.span, "declared here, without a default");
  return {};
}

// True if `condition` holds, or if it cannot be evaluated, after a report.
bool Scopes::holds(const ast::Expr& condition, const Instance& instance, std::string_view what) {
  Value value = evaluate(condition, instance);
  if (value.is_error()) return true;
  if (value.has_unknown())
    diagnostics_.report(DiagCode::NotKnownYet, condition.span,
                        fmt::format("the condition of {} must be known before apply", what));
  else if (value.kind() != ValueKind::Boolean)
    diagnostics_.report(DiagCode::WrongOperand, condition.span,
                        fmt::format("a condition is a boolean, not {}", expr::kind_name(value.kind())));
  else
    return value.as_boolean(expr::kPermitted);  // says one thing: that it does not hold
  return true;
}

std::string Scopes::message_of(const ast::Expr* message, const Instance& instance) {
  if (message == nullptr) return {};
  Value text = evaluate(*message, instance);
  if (text.sensitive()) return "(the message holds a secret)";
  return text.is_error() || text.has_unknown() ? std::string() : expr::display(text).value_or("");
}

void Scopes::check_conditions() {
  visit(program_, [&](const Instance& instance) {
    WithinUse within(diagnostics_, instance.used_from);
    for (auto& [name, slot] : scope(instance).slots) {
      const ast::Expr* condition = slot.declaration.condition;
      if (condition == nullptr || slot.value.is_error()) continue;
      if (holds(*condition, instance, fmt::format("input '{}'", name))) continue;
      std::string message = message_of(slot.declaration.message, instance);
      diagnostics_
          .report(DiagCode::InputValue, slot.given ? slot.given->span : slot.block->name.span,
                  message.empty() ? fmt::format("input '{}' does not meet its condition", name)
                                  : fmt::format("input '{}': {}", name, message))
          .note(condition->span, "the condition");
    }
    for (const ast::Assert* check : instance.asserts) {
      if (check->condition == nullptr || holds(*check->condition, instance, "an assertion")) continue;
      std::string message = message_of(check->message, instance);
      diagnostics_.report(DiagCode::AssertionFailed, check->condition->span,
                          message.empty() ? std::string("this does not hold") : message);
    }
  });
}

std::map<std::string, ir::JsonBox> Scopes::program_inputs(ir::Secrets& secrets) const {
  std::map<std::string, ir::JsonBox> result;
  auto found = scopes_.find(&program_);
  if (found == scopes_.end()) return result;
  for (const auto& [name, slot] : found->second->slots) {
    if (slot.value.is_error()) continue;
    expr::Emitter emitter(&secrets, "input." + std::string(name));
    result[std::string(name)] = emitter.emit(slot.value);
  }
  return result;
}

void Scopes::report_unused_inputs() {
  visit(program_, [&](const Instance& instance) {
    const Mentions named = mentions_in(instance);
    for (const auto& [name, slot] : scope(instance).slots) {
      if (slot.used || slot.block == nullptr || named.computed_input || named.inputs.contains(name)) continue;
      Diagnostic& unused = diagnostics_.report(DiagCode::UnusedInput, slot.block->name.span,
                                               fmt::format("input '{}' is never used", name));
      for (const auto& tree : instance.trees)
        if (tree->source->text().find(fmt::format("{{{{ input.{} }}}}", name)) != std::string_view::npos)
          unused.with_help(fmt::format("`{{{{ }}}}` is Ansible's: write ${{input.{}}} in a string", name));
    }
    std::set<std::pair<uint32_t, uint32_t>> told;  // by place: those inside an `each` are several
    for (const auto& [name, let] : instance.lets) {
      if (scope(instance).let_values[name].used || named.words.contains(let->name.text)) continue;
      if (!told.insert({let->name.span.file, let->name.span.begin}).second) continue;
      diagnostics_.report(DiagCode::UnusedInput, let->name.span,
                          fmt::format("the value '{}' is never used", let->name.text));
    }
  });
}

std::string Scopes::fill_body(std::string_view body, const Instance& instance, Span at) {
  constexpr std::string_view kMark = "@input.";
  std::string filled;
  while (true) {
    size_t begin = body.find(kMark);
    size_t end = begin == body.npos ? body.npos : body.find('@', begin + kMark.size());
    std::string_view name =
        end == body.npos ? std::string_view() : body.substr(begin + kMark.size(), end - begin - kMark.size());
    if (end == body.npos) return filled.append(body);
    if (!instance.inputs.contains(name)) {
      if (instance.trees.front()->dialect == ast::Dialect::Radl2) {
        diagnostics_.report(DiagCode::InputInText, at,
                            fmt::format("no input is named '{}': the text stays unchanged", name));
      }
      filled.append(body.substr(0, begin + kMark.size()));
      body.remove_prefix(begin + kMark.size());
      continue;
    }
    Value value = input(instance, name, at);
    auto text = expr::display(value);
    if (value.sensitive()) {
      diagnostics_.report(DiagCode::SecretInBody, at,
                          fmt::format("the recipe's text contains the sensitive input '{}'", name));
    } else if (!value.is_error() && !text) {
      diagnostics_.report(
          DiagCode::NotKnownYet, at,
          fmt::format("the recipe's text contains input '{}', which is known only after apply", name));
    }
    filled.append(body.substr(0, begin)).append(text.value_or(""));
    body.remove_prefix(end + 1);
  }
}

}  // namespace radl::passes
