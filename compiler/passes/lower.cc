// Trees to values (compiler/eval): RADL 1 files as they are, blocks of `radl 2` and of modules evaluated in
// the scope of their instance.
#include "compiler/eval/hir.h"

#include <algorithm>

#include "compiler/passes/build.h"
#include "compiler/resources/resource_schema.h"

namespace radl::passes {

namespace {

class InstanceScope final : public hir::Scope {
 public:
  InstanceScope(Scopes& scopes, const Instance& instance) : scopes_(scopes), instance_(instance) {}

  expr::Value value(const ast::Expr& expression) override { return scopes_.evaluate(expression, instance_); }
  std::string full(std::string_view name) override { return instance_.full(name); }
  bool has_network(std::string_view name) override { return instance_.networks.contains(name); }

  // A system that is not there stays under its name: the check reports it.
  std::vector<std::string> systems_of(const ast::Deploy& deploy) override {
    return or_written(scopes_.systems_named(deploy.name, instance_), deploy.name);
  }
  std::vector<std::string> systems_of(const ast::Item& item) override {
    std::vector<std::string> systems = scopes_.systems_of(item, instance_);
    return item.systems == nullptr ? or_written(std::move(systems), item.system) : systems;
  }
  int64_t nodes_of(const ast::Deploy& deploy) override {
    return scopes_.deploy_count(deploy, instance_).value_or(1);
  }
  std::string cloud_of(const ast::Deploy& deploy) override { return scopes_.cloud_of(deploy, instance_); }
  const ast::Configure* configure(std::string_view name) override {
    auto found = instance_.configures.find(name);
    return found == instance_.configures.end() ? nullptr : ast::as<ast::Configure>(found->second);
  }
  bool is_job(const ast::Configure& configure) override { return find_job(configure) != nullptr; }

 private:
  static std::vector<std::string> or_written(std::vector<std::string> systems, const ast::Name& name) {
    if (systems.empty() && !name.text.starts_with("input.")) systems.emplace_back(name.text);
    return systems;
  }

  Scopes& scopes_;
  const Instance& instance_;
};

void lower_instance(Build& build, const Instance& instance, uint32_t file, hir::Part& part) {
  InstanceScope scope(*build.scopes, instance);
  WithinUse within(build.diagnostics, instance.used_from);
  hir::lower(instance.blocks, file, scope, build.values.arenas.front(), part, build.diagnostics);
}

}  // namespace

// One part for each file, and one for all modules.
void lower(Build& build) {
  hir::Document& values = build.values;
  values.parts.reserve(build.root->trees.size() + 1);
  values.arenas.emplace_back();
  for (const ast::Tree* tree : build.root->trees) {
    if (tree->dialect != ast::Dialect::Radl2) {
      hir::lower(*tree, values);
      continue;
    }
    build.evaluated = true;
    hir::Part& part = values.parts.emplace_back();
    part.source = tree->source;
    part.dialect = tree->dialect;
    part.broken = tree->syntax_errors;
    lower_instance(build, *build.root, tree->source->id(), part);
  }
  hir::Part* modules = nullptr;
  visit(static_cast<const Instance&>(*build.root), [&](const Instance& instance) {
    if (instance.parent == nullptr) return;
    if (modules == nullptr) {
      build.evaluated = true;
      modules = &values.parts.emplace_back();
      modules->source = instance.trees.front()->source;
      modules->dialect = instance.trees.front()->dialect;
    }
    for (const ast::Tree* tree : instance.trees) {
      modules->broken = modules->broken || tree->syntax_errors;
      lower_instance(build, instance, 0, *modules);
    }
  });
}

}  // namespace radl::passes
