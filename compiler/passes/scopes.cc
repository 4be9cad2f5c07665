#include "compiler/passes/scopes.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "common/text.h"

namespace radl::passes {

using expr::Value;
using ValueKind = expr::Kind;

namespace {
constexpr int kMaxLazyDepth = 200;  // inputs that need inputs that need ...: each level takes some stack
enum class State { Fresh, Busy, Done };
}  // namespace

struct Scopes::Slot {
  const ast::Block* sentence = nullptr;
  InputDeclaration declaration;
  const ast::Expr* given = nullptr;  // by `use`, to be evaluated in the parent
  State state = State::Fresh;
  Value value;
  bool used = false;
};

struct Scopes::CountSlot {
  std::vector<std::pair<const ast::Deploy*, const Instance*>> deploys;
  State state = State::Fresh;
  std::optional<int64_t> count;
};

// The names of one instance, each group as a Namespace.
struct Scopes::Scope {
  struct Inputs final : expr::Namespace {
    Scope* scope;
    std::optional<Value> member(std::string_view name, Span at) const override {
      if (!scope->instance.inputs.contains(name)) return std::nullopt;
      return scope->all.input(scope->instance, name, at);
    }
    std::vector<std::string> names() const override { return keys(scope->instance.inputs); }
    std::string what() const override { return "input"; }
  };
  struct Systems final : expr::Namespace {
    Scope* scope;
    std::optional<Value> member(std::string_view name, Span) const override {
      if (!scope->instance.systems.contains(name)) return std::nullopt;
      return Value::system(scope->instance.full(name));
    }
    std::vector<std::string> names() const override { return keys(scope->instance.systems); }
    std::string what() const override { return "system"; }
  };
  struct Outputs final : expr::Namespace {
    Scope* scope;
    std::optional<Value> member(std::string_view name, Span at) const override {
      if (!scope->instance.outputs.contains(name)) return std::nullopt;
      return scope->all.output(scope->instance, name, at);
    }
    std::vector<std::string> names() const override { return keys(scope->instance.outputs); }
    std::string what() const override {
      return fmt::format("output of module '{}'", scope->instance.use->name.text);
    }
  };
  struct Training final : expr::Namespace {
    std::string step;
    static const std::vector<std::string>& attributes() {
      static const std::vector<std::string> names = {"model_path", "test_accuracy", "images_per_second",
                                                     "seconds",    "events_path",   "report_path"};
      return names;
    }
    std::optional<Value> member(std::string_view name, Span) const override {
      const auto& all = attributes();
      if (std::find(all.begin(), all.end(), name) == all.end()) return std::nullopt;
      return Value::unknown(fmt::format("{}.{}", step, name));
    }
    std::vector<std::string> names() const override { return attributes(); }
    std::string what() const override { return "product of a training"; }
  };
  struct Root final : expr::Namespace {
    Scope* scope;
    const Self* self = nullptr;
    bool* used_self = nullptr;
    std::optional<Value> member(std::string_view name, Span at) const override {
      return scope->root(name, at, self, used_self);
    }
    std::vector<std::string> names() const override;
    std::string what() const override { return "name"; }
  };

  Scope(Scopes& scopes, const Instance& of) : all(scopes), instance(of) {
    inputs.scope = systems.scope = outputs.scope = this;
  }

  static std::vector<std::string> keys(const Instance::ByName& names) {
    std::vector<std::string> result;
    for (const auto& [name, sentence] : names) result.emplace_back(name);
    return result;
  }

  std::optional<Value> root(std::string_view name, Span at, const Self* self, bool* used_self);

  Scopes& all;
  const Instance& instance;
  Inputs inputs;
  Systems systems;
  Outputs outputs;
  std::map<std::string_view, Slot> slots;
  std::map<std::string_view, std::pair<State, Value>> output_values;
  std::map<std::string_view, std::unique_ptr<Training>> trainings;
  std::map<std::string_view, std::string> training_names;  // by configure
};

std::vector<std::string> Scopes::Scope::Root::names() const {
  std::vector<std::string> result = {"input", "system", "module", "none"};
  if (self != nullptr) result.emplace_back("self");
  for (const auto& [name, sentence] : scope->instance.systems) result.emplace_back(name);
  for (const auto& child : scope->instance.children) result.emplace_back(child->use->name.text);
  for (const auto& [name, sentence] : scope->instance.configures) result.emplace_back(name);
  return result;
}

std::optional<Value> Scopes::Scope::root(std::string_view name, Span at, const Self* self, bool* used_self) {
  if (name == "input") return Value::space(&inputs);
  if (name == "system") return Value::space(&systems);
  if (name == "module") {
    return Value::map(
        {{"name", Value::text(instance.prefix.empty() ? "program" : instance.prefix)},
         {"path", Value::text(instance.trees.empty() ? "" : instance.trees.front()->source->path())}});
  }
  if (name == "none") return Value::null();
  if (name == "self") {
    if (self == nullptr) {
      all.diagnostics_.report(DiagCode::UnknownName, at,
                              "`self`, the machine that a recipe runs on, can only stand in recipes");
      return Value();
    }
    if (used_self != nullptr) *used_self = true;
    return Value::node(self->system, self->ordinal);
  }
  if (const Instance* child = instance.child(name)) return Value::space(&all.scope(*child).outputs);
  if (instance.failed.contains(name)) return Value();
  if (instance.systems.contains(name)) return Value::system(instance.full(name));
  if (auto found = instance.configures.find(name); found != instance.configures.end()) {
    auto* configure = ast::as<ast::Configure>(found->second);
    auto& slot = trainings[name];
    if (slot == nullptr) {
      std::string training = configure == nullptr ? std::string() : all.training_name(*configure, instance);
      if (training.empty()) {
        trainings.erase(name);
        return std::nullopt;
      }
      slot = std::make_unique<Training>();
      slot->step = "training/" + training;
    }
    return Value::space(slot.get());
  }
  return std::nullopt;
}

Scopes::Scopes(const Instance& program, const CompileOptions& options, SourceMap& sources,
               Diagnostics& diagnostics)
    : program_(program),
      options_(options),
      sources_(sources),
      diagnostics_(diagnostics),
      given_(options, diagnostics) {
  visit(program, [&](const Instance& instance) {
    for (const auto& [name, sentence] : instance.systems) known_systems_.insert(instance.full(name));
  });
}

Scopes::~Scopes() = default;

Scopes::Scope& Scopes::scope(const Instance& instance) {
  auto& slot = scopes_[&instance];
  if (slot == nullptr) slot = std::make_unique<Scope>(*this, instance);
  return *slot;
}

Value Scopes::evaluate(const ast::Expr& expression, const Instance& instance, const Self* self,
                       bool* used_self) {
  if (depth_ > kMaxLazyDepth) {
    diagnostics_.report(DiagCode::ExpressionCost, expression.span,
                        fmt::format("more than {} values depend on each other in a row", kMaxLazyDepth));
    return {};
  }
  Scope::Root names;
  names.scope = &scope(instance);
  names.self = self;
  names.used_self = used_self;
  expr::Context context{&diagnostics_, &names, this, this, &budget_};
  depth_++;
  Value value = expr::evaluate(expression, context);
  depth_--;
  return value;
}

Value Scopes::cycle(std::string_view what, Span at) {
  diagnostics_.report(DiagCode::ValueCycle, at, fmt::format("{} depends on itself", what));
  return {};
}

// ---- inputs

void Scopes::declare(const Instance& instance) {
  Scope& here = scope(instance);
  for (const auto& [name, sentence] : instance.inputs) {
    auto* block = ast::as<ast::Block>(sentence);
    if (block == nullptr) continue;
    Slot& slot = here.slots[name];
    slot.sentence = block;
    slot.declaration =
        declare_input(*block, diagnostics_, [&](const ast::Expr& e) { return evaluate(e, instance); });
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
    if (found == here.slots.end()) {
      auto& diagnostic = diagnostics_.report(
          DiagCode::UnknownInput, feature->name.span,
          fmt::format("module '{}' has no input '{}'", instance.use->module->text, feature->name.text));
      std::string near = nearest(feature->name.text, Scope::keys(instance.inputs));
      if (!near.empty())
        diagnostic.with_help(fmt::format("did you mean '{}'?", near))
            .fix(fmt::format("write '{}'", near), feature->name.span, near);
      continue;
    }
    if (found->second.given != nullptr) {
      diagnostics_
          .report(DiagCode::NameClash, feature->name.span,
                  fmt::format("input '{}' is given twice", feature->name.text))
          .note(found->second.given->span, "first given here");
      continue;
    }
    found->second.given = feature->value;
  }
}

void Scopes::resolve_inputs() {
  visit(program_, [&](const Instance& instance) { declare(instance); });
  for (const auto& [name, source] : given_.explicit_names()) {
    if (program_.inputs.contains(name)) continue;
    // RADL 1's @input.NAME@ is declared by its use: passes/substitute.cc has looked at these.
    if (program_.trees.empty() || program_.trees.front()->dialect != ast::Dialect::Radl2) continue;
    auto& diagnostic = diagnostics_.report(DiagCode::UnknownInput, {},
                                           fmt::format("{}: the program has no input '{}'", source, name));
    std::string near = nearest(name, Scope::keys(program_.inputs));
    if (!near.empty()) diagnostic.with_help(fmt::format("did you mean '{}'?", near));
  }
  visit(program_, [&](const Instance& instance) {
    for (auto& [name, slot] : scope(instance).slots) {
      if (slot.sentence != nullptr) resolve_slot(slot, instance, name, slot.sentence->name.span);
    }
  });
}

Value Scopes::input(const Instance& instance, std::string_view name, Span at) {
  Slot& slot = scope(instance).slots[name];
  slot.used = true;
  if (slot.sentence == nullptr) return {};  // asked for while inputs are being declared
  return resolve_slot(slot, instance, name, at);
}

Value Scopes::resolve_slot(Slot& slot, const Instance& instance, std::string_view name, Span at) {
  if (slot.state == State::Busy) return cycle(fmt::format("input '{}'", name), at);
  if (slot.state == State::Done) return slot.value;
  slot.state = State::Busy;
  slot.value = instance.parent == nullptr ? program_value(slot, name) : module_value(slot, instance, name);
  if (slot.declaration.sensitive && !slot.value.is_error() && !slot.value.sensitive()) {
    slot.value.mark_sensitive(
        fmt::format("{}input.{}", instance.prefix.empty() ? "" : instance.prefix + ".", name));
  }
  slot.state = State::Done;
  return slot.value;
}

Value Scopes::program_value(Slot& slot, std::string_view name) {
  const InputDeclaration& declaration = slot.declaration;
  Span at = slot.sentence->name.span;
  auto from_text = [&](const std::string& text, const std::string& source) {
    std::optional<Value> value;
    if (declaration.type == InputType::System || declaration.type == InputType::Systems) {
      if (known_systems_.contains(text)) value = Value::system(text);
    } else {
      value = input_from_text(declaration.type, text);
    }
    if (!value) {
      diagnostics_.report(
          DiagCode::InputValue, at,
          fmt::format("{}: input '{}' is of type {}{}", source, name, input_type_name(declaration.type),
                      declaration.sensitive ? "; the value is not" : fmt::format(", '{}' is not", text)));
      return Value();
    }
    if (declaration.sensitive) value->mark_sensitive();
    Value fitted = fit_input(declaration, name, std::move(*value), at, diagnostics_);
    if (declaration.sensitive && !fitted.is_error()) fitted.mark_sensitive("input." + std::string(name));
    return fitted;
  };
  if (const GivenInputs::Given* given = given_.find(name)) {
    if (given->text) return from_text(*given->text, given->source);
    auto value = input_from_json(declaration.type, given->json);
    if (value) {
      if (declaration.sensitive) value->mark_sensitive();
      Value fitted = fit_input(declaration, name, std::move(*value), at, diagnostics_);
      if (declaration.sensitive && !fitted.is_error()) fitted.mark_sensitive("input." + std::string(name));
      return fitted;
    }
    diagnostics_.report(
        DiagCode::InputValue, at,
        fmt::format("{}: input '{}' is of type {}", given->source, name, input_type_name(declaration.type)));
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
  if (!options_.inputs_may_be_missing) {
    diagnostics_.report(DiagCode::InputMissing, at, fmt::format("input '{}' has no value", name))
        .with_help(
            fmt::format("give it with --input {}=VALUE, RADL_INPUT_{}=VALUE or a default", name, name));
  }
  return {};
}

Value Scopes::module_value(Slot& slot, const Instance& instance, std::string_view name) {
  if (slot.given != nullptr)
    return fit_input(slot.declaration, name, evaluate(*slot.given, *instance.parent), slot.given->span,
                     diagnostics_);
  if (slot.declaration.default_value != nullptr) {
    const ast::Expr& expression = *slot.declaration.default_value;
    return fit_input(slot.declaration, name, evaluate(expression, instance), expression.span, diagnostics_);
  }
  diagnostics_
      .report(DiagCode::InputMissing, instance.use->span,
              fmt::format("module '{}' needs a value for its input '{}'", instance.use->module->text, name))
      .note(slot.sentence->name.span, "declared here, without a default");
  return {};
}

std::map<std::string, ir::Json> Scopes::program_inputs(ir::Secrets& secrets) const {
  std::map<std::string, ir::Json> result;
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
    for (const auto& [name, slot] : scope(instance).slots) {
      if (slot.used || slot.sentence == nullptr) continue;
      diagnostics_.report(DiagCode::UnusedInput, slot.sentence->name.span,
                          fmt::format("input '{}' is never used", name));
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
                            fmt::format("no input is named '{}': it stays as it is", name));
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

// ---- outputs

Value Scopes::output(const Instance& instance, std::string_view name, Span at) {
  Scope& here = scope(instance);
  auto& [state, value] = here.output_values[name];
  if (state == State::Busy)
    return cycle(fmt::format("output '{}' of module '{}'", name, instance.prefix), at);
  if (state == State::Done) return value;
  state = State::Busy;
  auto* block = ast::as<ast::Block>(instance.outputs.at(name));
  Value made;
  for (const ast::Feature* feature : block->body.items) {
    if (feature->form == ast::FeatureKind::Simple && feature->name.text == "value")
      made = evaluate(*feature->value, instance);
  }
  if (!made.is_error() && !made.sensitive() && output_sensitive(instance, name)) made.mark_sensitive();
  auto& slot = here.output_values[name];
  slot = {State::Done, made};
  return made;
}

bool Scopes::output_sensitive(const Instance& instance, std::string_view name) {
  auto* block = ast::as<ast::Block>(instance.outputs.at(name));
  for (const ast::Feature* feature : block->body.items) {
    if (feature->form != ast::FeatureKind::Simple || feature->name.text != "sensitive") continue;
    Value value = evaluate(*feature->value, instance);
    return value.kind() == ValueKind::Boolean ? value.as_boolean()
                                              : value.kind() == ValueKind::Text && value.as_text() == "yes";
  }
  return false;
}

// ---- systems

std::vector<std::string> Scopes::systems_named(const ast::Name& name, const Instance& instance) {
  constexpr std::string_view kInput = "input.";
  if (instance.systems.contains(name.text)) return {instance.full(name.text)};
  if (!name.text.starts_with(kInput)) return {};
  std::string_view input_name = name.text.substr(kInput.size());
  if (!instance.inputs.contains(input_name)) {
    diagnostics_.report(DiagCode::UnknownMember, name.span,
                        fmt::format("there is no input named '{}'", input_name));
    return {};
  }
  Value value = input(instance, input_name, name.span);
  std::vector<std::string> names;
  if (value.kind() == ValueKind::System) names.push_back(value.as_text());
  if (value.kind() == ValueKind::List) {
    for (const Value& item : value.items()) {
      if (item.kind() == ValueKind::System) names.push_back(item.as_text());
    }
  }
  if (names.empty() && !value.is_error() && !(value.kind() == ValueKind::List && value.items().empty())) {
    diagnostics_.report(DiagCode::UnknownSystem, name.span,
                        fmt::format("input '{}' is no system", input_name));
  }
  return names;
}

std::optional<int64_t> Scopes::deploy_count(const ast::Deploy& deploy, const Instance& instance) {
  auto known = deploy_counts_.find({&deploy, &instance});
  if (known == deploy_counts_.end()) {
    auto count = compute_deploy_count(deploy, instance);
    known = deploy_counts_.emplace(std::pair(&deploy, &instance), count).first;
  }
  return known->second;
}

std::optional<int64_t> Scopes::compute_deploy_count(const ast::Deploy& deploy, const Instance& instance) {
  if (deploy.count == nullptr) return std::nullopt;
  Value value = evaluate(*deploy.count, instance);
  Span at = deploy.count->span;
  if (value.is_error()) return std::nullopt;
  auto wrong = [&](DiagCode code, std::string message) {
    diagnostics_.report(code, at, std::move(message));
    return std::nullopt;
  };
  if (value.has_unknown())
    return wrong(DiagCode::NotKnownYet, "the number of machines must be known before apply");
  if (value.sensitive())
    return wrong(DiagCode::SecretShown,
                 "the number of machines is shown in plans: it cannot come from a sensitive input");
  // The reference takes `deploy s 1.5`; it can only mean the whole part.
  if (value.kind() == ValueKind::Real && value.unit().empty() && value.as_real() >= 0)
    value = Value::integer(static_cast<int64_t>(std::min(value.as_real(), 1e9)));
  if (value.kind() != ValueKind::Integer || !value.unit().empty())
    return wrong(DiagCode::DeployCount, fmt::format("a number of machines is a whole number, not {}",
                                                    expr::kind_name(value.kind())));
  if (value.as_integer() < 0)
    return wrong(DiagCode::DeployCount, fmt::format("{} machines cannot be deployed", value.as_integer()));
  if (value.as_integer() > kMaxNodes)
    return wrong(DiagCode::DeployCount,
                 fmt::format("a program may have {} machines, here are {}", kMaxNodes, value.as_integer()));
  return value.as_integer();
}

void Scopes::index_deploys() {
  deploys_indexed_ = true;
  visit(program_, [&](const Instance& instance) {
    for (const ast::Deploy* deploy : instance.deploys) {
      for (const std::string& system : systems_named(deploy->name, instance)) {
        auto& slot = counts_[system];
        if (slot == nullptr) slot = std::make_unique<CountSlot>();
        slot->deploys.emplace_back(deploy, &instance);
      }
    }
  });
}

std::optional<int64_t> Scopes::count(const std::string& system, Span at) {
  if (!deploys_indexed_) index_deploys();
  auto found = counts_.find(system);
  if (found == counts_.end()) return 0;
  CountSlot& slot = *found->second;
  if (slot.state == State::Busy) {
    cycle(fmt::format("the number of machines of system '{}'", system), at);
    return std::nullopt;
  }
  if (slot.state == State::Done) return slot.count;
  slot.state = State::Busy;
  int64_t total = 0;
  bool known = true;
  for (const auto& [deploy, instance] : slot.deploys) {
    auto count = deploy_count(*deploy, *instance);
    known = known && count.has_value();
    total += count.value_or(0);
  }
  slot.state = State::Done;
  if (known) slot.count = total;
  return slot.count;
}

std::optional<Value> Scopes::attribute(const std::string& system, int64_t ordinal, std::string_view member,
                                       Span at) {
  std::string address = fmt::format("{}[{}]", system, ordinal);
  if (member == "ordinal") return Value::integer(ordinal);
  if (member == "system") return Value::text(system);
  if (member == "address") return Value::text(address);
  if (member == "number" || member == "hostname" || member == "fqdn") {
    auto facts = facts_ ? facts_(system, ordinal) : std::nullopt;
    if (!facts) {
      diagnostics_.report(DiagCode::ValueCycle, at,
                          fmt::format("'{}' of a machine cannot decide which machines there are", member));
      return Value();
    }
    if (member == "number") return Value::integer(facts->number);
    return Value::text(member == "hostname" ? facts->host_name : facts->host_name + "." + facts->domain);
  }
  for (std::string_view name : {"ip", "private_ip", "public_ip", "port", "user", "id"}) {
    if (member == name) return Value::unknown(fmt::format("{}.{}", address, member));
  }
  return std::nullopt;
}

std::string Scopes::training_name(const ast::Configure& configure, const Instance& instance) {
  for (const ast::Resource* resource : configure.resources) {
    if (resource->type.text != "training" || resource->name == nullptr) continue;
    auto [slot, fresh] = scope(instance).training_names.try_emplace(configure.name.text);
    if (!fresh)
      return slot->second;  // empty while it is being worked out: a name that asks for itself is none
    Value name = evaluate(*resource->name, instance);
    return slot->second = name.kind() == ValueKind::Text ? name.as_text() : std::string();
  }
  return {};
}

// ---- the world

std::optional<std::string> Scopes::variable(const std::string& name) {
  auto found = options_.environment.find(name);
  if (found == options_.environment.end()) return std::nullopt;
  return found->second;
}

Result<std::string> Scopes::file(const std::string& path, Span at) {
  namespace fs = std::filesystem;
  const SourceFile* source = sources_.find(at.file);
  fs::path place(path);
  if (place.is_relative() && source != nullptr) place = fs::path(source->path()).parent_path() / place;
  std::string name = place.lexically_normal().string();
  if (auto cached = file_cache_.find(name); cached != file_cache_.end()) return cached->second;
  auto content = read_file(name, size_t{4} << 20);
  if (!content.ok()) return content;
  files_read_.push_back({name, sha256_hex(*content)});
  file_cache_[name] = *content;
  return content;
}

}  // namespace radl::passes
