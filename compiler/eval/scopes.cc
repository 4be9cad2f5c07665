#include "compiler/eval/scopes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "common/digest.h"
#include "common/text.h"
#include "common/tidy_path.h"
#include "compiler/eval/expand.h"
#include "compiler/eval/scope_data.h"
#include "compiler/source/read.h"
#include "compiler/syntax/renamed.h"

namespace radl::passes {

std::vector<std::string> Scopes::Scope::Root::names() const {
  std::vector<std::string> result = {"input", "output", "system", "module", "none"};
  for (const auto& [name, let] : scope->instance.lets)
    if (name == let->name.text) result.emplace_back(name);  // otherwise an `each` contains it
  if (self != nullptr && !self->system.empty()) result.emplace_back("self");
  for (const auto& [name, block] : scope->instance.systems) result.emplace_back(name);
  for (const auto& child : scope->instance.children) result.emplace_back(child->use->name.text);
  for (const auto& [name, block] : scope->instance.configures) result.emplace_back(name);
  for (const auto& [name, block] : scope->instance.networks) result.emplace_back(name);
  return result;
}

std::string Scopes::Scope::Outputs::renamed(std::string_view name) const {
  const ast::Use* use = scope->instance.use;
  if (use == nullptr || use->module == nullptr) return "";
  const std::string_view now = renamed_output(use->module->text, name);
  return scope->instance.outputs.contains(now) ? std::string(now) : "";
}

std::optional<Value> Scopes::Scope::root(std::string_view name, Span at, const Self* self, bool* used_self) {
  if (name == "input") return Value::space(&inputs);
  if (name == "output") return Value::space(&outputs);
  if (name == "system") return Value::space(&systems);
  if (name == "module") return Value::space(&module);
  if (name == "none") return Value::null();
  if (name == "self") {
    if (self == nullptr || self->system.empty()) {
      all.diagnostics_.report(DiagCode::UnknownName, at,
                              "`self`, the node that a recipe runs on, can only stand in recipes");
      return Value();
    }
    if (used_self != nullptr) *used_self = true;
    return Value::node(self->system, self->ordinal);
  }
  if (auto outputs_of = module_named(name, at)) return outputs_of;
  if (instance.systems.contains(name)) return Value::system(instance.full(name));
  if (const auto declared = function(name); declared.function != nullptr) {
    const std::string_view written = declared.function->name.text;
    all.diagnostics_
        .report(DiagCode::WrongOperand, at,
                fmt::format("`{}` is a function, which only has a value in a call", written))
        .note(declared.function->name.span, "declared here");
    return Value();
  }
  if (instance.lets.contains(name)) return all.let(instance, name, at);
  const bool configure = instance.configures.contains(name);
  if (configure) {
    if (auto jobs = jobs_named(name)) return jobs;
  } else if (instance.pending != nullptr) {
    if (!bring(ast::Kind::Use, name, at)) return Value();
    if (auto outputs_of = module_named(name, at)) return outputs_of;
  }
  // What a connection takes: its name.
  if (instance.networks.contains(name)) return Value::string(instance.full(name));
  return configure ? std::nullopt : missing("", name);
}

expr::Namespace::Declared Scopes::Scope::function(std::string_view name) {
  const auto found = instance.lets.find(name);
  auto* let = found == instance.lets.end() ? nullptr : ast::as<ast::Let>(found->second);
  if (let == nullptr || let->parameters.empty()) return {};
  let_values[found->first].used = true;
  return {let, &root_names};
}

std::optional<Value> Scopes::Scope::jobs_named(std::string_view name) {
  const auto found = instance.configures.find(name);
  auto* configure = found == instance.configures.end() ? nullptr : ast::as<ast::Configure>(found->second);
  const ast::Resource* job = configure == nullptr ? nullptr : find_job(*configure);
  if (job == nullptr) return std::nullopt;
  auto slot = jobs.find(found->first);
  if (slot == jobs.end()) {
    const JobSteps& steps = all.job_steps(*configure, instance);
    if (steps.wrong) return Value();
    if (!steps.known) return std::nullopt;
    slot = jobs.try_emplace(found->first).first;
    slot->second.train = job->type.text == "training";
    for (const std::string& id : steps.ids) slot->second.jobs.push_back(std::make_unique<Job>(id));
  }
  const bool repeated = configure->resources[0] != job;
  return Value::space(repeated ? static_cast<const expr::Namespace*>(&slot->second)
                               : slot->second.jobs.front().get());
}

std::optional<Value> Scopes::Scope::Module::member(std::string_view name, Span at) const {
  const Instance& instance = scope->instance;
  if (name == "name") return Value::string(instance.prefix.empty() ? "program" : instance.prefix);
  if (name == "path")
    return Value::string(instance.trees.empty() ? "" : instance.trees.front()->source->path());
  if (auto outputs_of = scope->module_named(name, at)) return outputs_of;
  if (auto jobs = scope->jobs_named(name)) return jobs;
  if (!scope->bring(ast::Kind::Use, name, at)) return Value();
  if (auto outputs_of = scope->module_named(name, at)) return outputs_of;
  return scope->missing("", name);
}

std::vector<std::string> Scopes::Scope::Module::names() const {
  std::vector<std::string> names;
  for (const auto& child : scope->instance.children) names.emplace_back(child->use->name.text);
  for (const auto& [name, block] : scope->instance.configures) {
    auto* configure = ast::as<ast::Configure>(block);
    if (configure != nullptr && find_job(*configure) != nullptr) names.emplace_back(name);
  }
  return names;
}

// nullopt if there is no such module.
std::optional<Value> Scopes::Scope::module_named(std::string_view name, Span at) {
  if (const Instance* child = instance.child(name)) {
    if (child->pending != nullptr) return all.cycle(fmt::format("what there is in module '{}'", name), at);
    return Value::space(&all.scope(*child).outputs);
  }
  const auto left_out = instance.left_out.find({ast::Kind::Use, name});
  const bool wrong =
      instance.failed.contains(name) || (left_out != instance.left_out.end() && !left_out->second);
  return wrong ? std::optional<Value>(Value()) : std::nullopt;
}

bool Scopes::Scope::bring(ast::Kind kind, std::string_view name, Span at) const {
  if (instance.pending == nullptr) return true;
  if (instance.pending->bring(kind, name)) return true;
  all.cycle(name.empty() ? "what there is" : fmt::format("whether there is a '{}'", name), at);
  return false;
}

std::string Scopes::Scope::left_out(ast::Kind kind, std::string_view name) const {
  if (!instance.left_out.contains({kind, name})) return "";
  if (kind == ast::Kind::Use)
    return fmt::format(
        "its `when` leaves out the module '{}': use it only under that condition, as in `if CONDITION then "
        "... else none`",
        name);
  const std::string_view space = instance.use == nullptr ? "output" : instance.use->name.text;
  return fmt::format(
      "its `when` leaves out the output '{0}': write lookup({1}, '{0}', none), or test has({1}, '{0}')", name,
      space);
}

// An Error that was already reported: the block that declares the name could not be parsed, or its `when` was
// invalid.
std::optional<Value> Scopes::Scope::missing(std::string_view keyword, std::string_view name) const {
  const auto left_out = instance.left_out.find({ast::Kind::Output, name});
  if (keyword == "output" && left_out != instance.left_out.end() && !left_out->second) return Value();
  return instance.may_declare(keyword, name) ? std::optional<Value>(Value()) : std::nullopt;
}

Scopes::Scopes(const Instance& program, const CompileOptions& options, SourceMap& sources,
               Diagnostics& diagnostics)
    : program_(program),
      options_(options),
      sources_(sources),
      diagnostics_(diagnostics),
      given_(options, diagnostics) {}

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
  expr::Context context = this->context(self);
  context.names = &names;
  WithinUse within(diagnostics_, instance.used_from);
  depth_++;
  Value value = expr::evaluate(expression, context);
  depth_--;
  return value;
}

expr::Context Scopes::context(const Self* self) {
  expr::Context context{&diagnostics_, nullptr, this, this, &budget_};
  context.bindings = self == nullptr ? nullptr : self->bindings;
  return context;
}

std::optional<std::vector<std::pair<Value, Value>>> Scopes::elements(const Value& list, Span at) {
  return expr::elements(list, at, context(nullptr));
}

bool Scopes::repeat(const ast::Each& each, const Instance& instance, const Self* self, bool* used_self,
                    const OnRepetition& on_repetition) {
  Value list = evaluate(*each.list, instance, self, used_self);
  if (list.is_error()) return false;
  if (list.sensitive() && list.kind() != ValueKind::List && list.kind() != ValueKind::Map) {
    report_secret_existence(each.list->span, diagnostics_);
    return false;
  }
  const auto all = elements(list, each.list->span);
  if (!all) return false;
  for (const auto& [key, element] : *all) {
    Self inside = self == nullptr ? Self() : *self;
    const expr::Binding first{each.first.text, each.second ? &key : &element, inside.bindings};
    const expr::Binding second{each.second.text, &element, &first};
    inside.bindings = each.second ? &second : &first;
    if (!on_repetition(inside)) return false;
  }
  return true;
}

std::string named_in(std::string what, const Instance& instance) {
  return instance.use == nullptr ? what : fmt::format("{} of module '{}'", what, instance.prefix);
}

Value Scopes::let(const Instance& instance, std::string_view name, Span at) {
  Scope::LetSlot& slot = scope(instance).let_values[name];
  slot.used = true;
  auto* written = static_cast<const ast::Let*>(instance.lets.at(name));
  std::string what = named_in(fmt::format("'{}'", written->name.text), instance);
  if (slot.state == SlotState::Busy) return cycle(what, at);
  if (slot.state == SlotState::Done) return slot.value;
  slot.state = SlotState::Busy;
  const Working working(*this, std::move(what), at);
  Value value = evaluate(*written->value, instance);
  Scope::LetSlot& done = scope(instance).let_values[name];
  done.state = SlotState::Done;
  return done.value = std::move(value);
}

Value Scopes::cycle(std::string_view what, Span at) {
  auto first =
      std::find_if(working_.begin(), working_.end(), [&](const auto& each) { return each.first == what; });
  auto& report = diagnostics_.report(DiagCode::ValueCycle, at, fmt::format("{} depends on itself", what));
  if (working_.end() - first < 2) return {};
  constexpr size_t kMostNotes = 8;
  for (auto needed = first + 1; needed != working_.end() && report.notes.size() < kMostNotes; ++needed)
    report.note(needed->second, fmt::format("{} needs {}", (needed - 1)->first, needed->first));
  report.labelled(fmt::format("{} needs {}", working_.back().first, what));
  return {};
}

// ---- the world

std::optional<std::string> Scopes::variable(const std::string& name) {
  auto found = options_.environment.find(name);
  if (found == options_.environment.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> Scopes::generated(const std::string& name) {
  uses_generated_ = true;
  return to_hex(hmac_sha256("radl generated " + options_.generator, name));
}

std::string Scopes::path_from(const std::string& path, Span at) const {
  namespace fs = std::filesystem;
  const SourceFile* source = sources_.find(at.file);
  fs::path place(path);
  if (place.is_relative() && source != nullptr) place = fs::path(source->path()).parent_path() / place;
  return tidy_path(place.string());
}

Result<std::string> Scopes::file(const std::string& path, Span at) {
  std::string name = path_from(path, at);
  if (auto cached = file_cache_.find(name); cached != file_cache_.end()) return cached->second;
  auto content = read_source_file(name, size_t{4} << 20);
  if (!content.ok()) return content;
  files_read_.push_back({name, sha256_hex(*content)});
  file_cache_[name] = *content;
  return content;
}

Result<const ast::Expr*> Scopes::text_template(const std::string& path, Span at) {
  std::string name = path_from(path, at);
  if (auto known = templates_.find(name); known != templates_.end()) return known->second.value;
  auto content = file(path, at);
  if (!content.ok()) return content.status();
  auto parsed =
      templates_.emplace(name, parse_template(sources_.add(name, std::move(*content)), diagnostics_));
  return parsed.first->second.value;
}

}  // namespace radl::passes
