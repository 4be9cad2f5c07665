#include "compiler/passes/scopes.h"

#include <fmt/format.h>

#include <filesystem>

#include "common/digest.h"
#include "common/files.h"
#include "common/text.h"
#include "common/tidy_path.h"
#include "compiler/passes/scope_data.h"

namespace radl::passes {

std::vector<std::string> Scopes::Scope::Root::names() const {
  std::vector<std::string> result = {"input", "system", "module", "none"};
  if (self != nullptr) result.emplace_back("self");
  for (const auto& [name, block] : scope->instance.systems) result.emplace_back(name);
  for (const auto& child : scope->instance.children) result.emplace_back(child->use->name.text);
  for (const auto& [name, block] : scope->instance.configures) result.emplace_back(name);
  return result;
}

std::optional<Value> Scopes::Scope::root(std::string_view name, Span at, const Self* self, bool* used_self) {
  if (name == "input") return Value::space(&inputs);
  if (name == "system") return Value::space(&systems);
  if (name == "module") {
    return Value::map(
        {{"name", Value::string(instance.prefix.empty() ? "program" : instance.prefix)},
         {"path", Value::string(instance.trees.empty() ? "" : instance.trees.front()->source->path())}});
  }
  if (name == "none") return Value::null();
  if (name == "self") {
    if (self == nullptr) {
      all.diagnostics_.report(DiagCode::UnknownName, at,
                              "`self`, the node that a recipe runs on, can only stand in recipes");
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
    for (const auto& [name, block] : instance.systems) known_systems_.insert(instance.full(name));
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
  std::string name = tidy_path(place.string());
  if (auto cached = file_cache_.find(name); cached != file_cache_.end()) return cached->second;
  auto content = read_file(name, size_t{4} << 20);
  if (!content.ok()) return content;
  files_read_.push_back({name, sha256_hex(*content)});
  file_cache_[name] = *content;
  return content;
}

}  // namespace radl::passes
