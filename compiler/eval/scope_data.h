// The names of an instance and the progress of their evaluation. Internal to Scopes.
#pragma once

#include "compiler/eval/job_products.h"
#include "compiler/eval/scopes.h"

namespace radl::passes {

using expr::Value;
using ValueKind = expr::Kind;

inline constexpr int kMaxLazyDepth =
    200;  // nesting of inputs that need other inputs; each level takes some stack space
enum class SlotState { Fresh, Busy, Done };

struct Scopes::Slot {
  const ast::FeatureBlock* block = nullptr;
  InputDeclaration declaration;
  const ast::Expr* given = nullptr;         // by `use`; evaluated in the parent
  std::vector<const ast::Feature*> fields;  // of options(...), given individually by `use`
  SlotState state = SlotState::Fresh;
  Value value;
  bool used = false;
};

struct Scopes::CountSlot {
  std::vector<std::pair<const ast::Deploy*, const Instance*>> deploys;
  SlotState state = SlotState::Fresh;
  std::optional<int64_t> count;
};

// "input 'n'", followed by its module if that is not the program.
std::string named_in(std::string what, const Instance& instance);

// The names of an instance, each group as a Namespace.
struct Scopes::Scope {
  struct Inputs final : expr::Namespace {
    Scope* scope;
    std::optional<Value> member(std::string_view name, Span at) const override {
      if (!scope->instance.inputs.contains(name)) return scope->missing("input", name);
      return scope->all.input(scope->instance, name, at);
    }
    std::vector<std::string> names() const override { return keys(scope->instance.inputs); }
    std::string what() const override { return "input"; }
  };
  struct Systems final : expr::Namespace {
    Scope* scope;
    std::optional<Value> member(std::string_view name, Span at) const override {
      if (!scope->instance.systems.contains(name) && !scope->bring(ast::Kind::System, name, at))
        return Value();
      if (!scope->instance.systems.contains(name)) return scope->missing("system", name);
      return Value::system(scope->instance.full(name));
    }
    std::vector<std::string> names() const override { return keys(scope->instance.systems); }
    bool complete(Span at) const override { return scope->bring(ast::Kind::System, "", at); }
    bool open() const override { return true; }
    std::string what() const override { return "system"; }
  };
  struct Outputs final : expr::Namespace {
    Scope* scope;
    std::optional<Value> member(std::string_view name, Span at) const override {
      if (!scope->instance.outputs.contains(name) && !scope->bring(ast::Kind::Output, name, at))
        return Value();
      if (!scope->instance.outputs.contains(name)) return scope->missing("output", name);
      return scope->all.output(scope->instance, name, at);
    }
    std::vector<std::string> names() const override { return keys(scope->instance.outputs); }
    bool complete(Span at) const override { return scope->bring(ast::Kind::Output, "", at); }
    std::string absence(std::string_view name) const override {
      return scope->left_out(ast::Kind::Output, name);
    }
    std::string renamed(std::string_view name) const override;
    std::string what() const override {
      if (scope->instance.use == nullptr) return "output";
      return fmt::format("output of module '{}'", scope->instance.use->name.text);
    }
  };
  struct Job final : expr::Namespace {
    explicit Job(std::string id) : step(std::move(id)) {}
    std::string step;  // "training/NAME" or "program/NAME"
    std::string_view name() const { return std::string_view(step).substr(step.find('/') + 1); }
    bool trains() const { return step.starts_with("training/"); }
    std::optional<Value> member(std::string_view product, Span) const override {
      if (!is_product(product, trains())) return std::nullopt;
      return Value::unknown(fmt::format("{}.{}", step, product));
    }
    std::vector<std::string> names() const override {
      std::vector<std::string> names;
      for (const JobProduct& product : job_products(trains())) names.emplace_back(product.name);
      return names;
    }
    std::string what() const override { return trains() ? "product of a training" : "product of a program"; }
  };
  // The jobs that `each` makes from a configure, by name; and each product, as a map by job name.
  struct Jobs final : expr::Namespace {
    std::vector<std::unique_ptr<Job>> jobs;
    bool train = false;
    std::optional<Value> member(std::string_view name, Span at) const override {
      for (const auto& job : jobs)
        if (job->name() == name) return Value::space(job.get());
      if (!is_product(name, train)) return std::nullopt;
      expr::Entries entries;
      for (const auto& job : jobs) entries.emplace(job->name(), *job->member(name, at));
      return Value::map(std::move(entries));
    }
    std::vector<std::string> names() const override {
      std::vector<std::string> names;
      for (const auto& job : jobs) names.emplace_back(job->name());
      return names;
    }
    bool open() const override { return true; }
    std::string what() const override {
      return train ? "training, or product of all of them," : "program, or product of all of them,";
    }
  };
  // Access by computed names: module['job-a'].
  struct Module final : expr::Namespace {
    Scope* scope;
    std::optional<Value> member(std::string_view name, Span at) const override;
    std::vector<std::string> names() const override;
    bool complete(Span at) const override { return scope->bring(ast::Kind::Use, "", at); }
    bool open() const override { return true; }
    std::string what() const override { return "module or job"; }
    std::string absence(std::string_view name) const override {
      return scope->left_out(ast::Kind::Use, name);
    }
  };
  struct Root final : expr::Namespace {
    Scope* scope;
    const Self* self = nullptr;
    bool* used_self = nullptr;
    std::optional<Value> member(std::string_view name, Span at) const override {
      return scope->root(name, at, self, used_self);
    }
    std::vector<std::string> names() const override;
    Declared function(std::string_view name) const override { return scope->function(name); }
    std::string what() const override { return "name"; }
    std::string absence(std::string_view name) const override {
      return scope->left_out(ast::Kind::Use, name);
    }
  };

  Scope(Scopes& scopes, const Instance& of) : all(scopes), instance(of) {
    inputs.scope = systems.scope = outputs.scope = module.scope = root_names.scope = this;
  }

  static std::vector<std::string> keys(const Instance::ByName& names) {
    std::vector<std::string> result;
    for (const auto& [name, block] : names) result.emplace_back(name);
    return result;
  }

  std::optional<Value> root(std::string_view name, Span at, const Self* self, bool* used_self);
  std::optional<Value> module_named(std::string_view name, Span at);
  expr::Namespace::Declared function(std::string_view name);
  // The training or program of a configure, or those that its `each` makes.
  std::optional<Value> jobs_named(std::string_view name);
  std::optional<Value> missing(std::string_view keyword, std::string_view name) const;
  // Expands the blocks that may declare the name, unless that has happened. Returns false after reporting
  // that the existence of the name depends on the value that is being computed.
  bool bring(ast::Kind kind, std::string_view name, Span at) const;
  std::string left_out(ast::Kind kind, std::string_view name) const;

  Scopes& all;
  const Instance& instance;
  Inputs inputs;
  Systems systems;
  Outputs outputs;
  Module module;
  Root root_names;  // without `self`
  std::map<std::string_view, Slot> slots;
  std::map<std::string_view, std::pair<SlotState, Value>> output_values;
  struct LetSlot {
    SlotState state = SlotState::Fresh;
    Value value;
    bool used = false;
  };
  std::map<std::string_view, LetSlot> let_values;
  bool declared = false;
  std::map<std::string_view, Jobs> jobs;  // by configure
  std::map<std::string_view, JobSteps> job_steps;
};

}  // namespace radl::passes
