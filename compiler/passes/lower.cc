// Trees to values (compiler/eval): RADL 1 files as they are, blocks of `radl 2` and of modules evaluated in
// the scope of their instance.
#include "compiler/eval/hir.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiler/eval/literals.h"
#include "compiler/passes/build.h"
#include "compiler/resources/resource_schema.h"

namespace radl::passes {

namespace {

// The features of every system, each block's once: what one system takes over from another is the value, not
// the text.
class SystemFeatures {
 public:
  explicit SystemFeatures(Build& build) : build_(build) {
    visit(static_cast<const Instance&>(*build.root), [&](const Instance& instance) {
      for (const ast::Block* block : instance.blocks) {
        if (block->kind == ast::Kind::System && block->name)
          named_[instance.full(block->name.text)].push_back(
              {static_cast<const ast::FeatureBlock*>(block), &instance});
      }
    });
  }

  const hir::Features& of(const ast::FeatureBlock& block, const Instance& instance);
  std::vector<const hir::Features*> taken_over(const std::string& system, Span at);

 private:
  struct Place {
    const ast::FeatureBlock* block;
    const Instance* instance;
  };
  struct Known {
    bool busy = true;
    hir::Features features;
  };
  bool radl1(const Place& place) const {
    const auto& trees = place.instance->trees;
    return std::any_of(trees.begin(), trees.end(), [&](const ast::Tree* tree) {
      return tree->source->id() == place.block->span.file && tree->dialect != ast::Dialect::Radl2;
    });
  }

  bool too_much(Span at);

  Build& build_;
  int depth_ = 0;     // systems that are being taken over, one inside another
  size_t taken_ = 0;  // features that were taken over, in the whole program
  bool told_ = false;
  std::map<std::string, std::vector<Place>> named_;
  std::map<std::pair<const ast::FeatureBlock*, const Instance*>, Known> known_;
};

class InstanceScope final : public hir::Scope {
 public:
  InstanceScope(Scopes& scopes, const Instance& instance, SystemFeatures& systems)
      : scopes_(scopes), instance_(instance), systems_(systems) {}

  expr::Value value(const ast::Expr& expression) override { return scopes_.evaluate(expression, instance_); }
  std::string full(std::string_view name) override { return instance_.full(name); }
  bool has_network(std::string_view name) override { return instance_.networks.contains(name); }

  // A missing system keeps its name: the check reports it.
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
  const hir::Features& features_of(const ast::FeatureBlock& system) override {
    return systems_.of(system, instance_);
  }
  std::vector<const hir::Features*> taken_over(const std::string& system, Span at) override {
    return systems_.taken_over(system, at);
  }

 private:
  static std::vector<std::string> or_written(std::vector<std::string> systems, const ast::Name& name) {
    if (systems.empty() && !name.text.starts_with("input.")) systems.emplace_back(name.text);
    return systems;
  }

  Scopes& scopes_;
  const Instance& instance_;
  SystemFeatures& systems_;
};

const hir::Features& SystemFeatures::of(const ast::FeatureBlock& block, const Instance& instance) {
  auto [found, fresh] = known_.try_emplace({&block, &instance});
  Known& known = found->second;
  if (!fresh) return known.features;
  Arena& arena = build_.values.arenas.front();
  if (radl1({&block, &instance})) {
    known.features = hir::literal_features(block.body, arena);
  } else {
    InstanceScope scope(*build_.scopes, instance, *this);
    WithinUse within(build_.diagnostics, instance.used_from);
    known.features = hir::system_features(block, scope, arena, build_.diagnostics);
  }
  known.busy = false;
  return known.features;
}

// Reported once: every system above would say the same.
bool SystemFeatures::too_much(Span at) {
  constexpr int kMaxDepth = 100;  // each takes some stack
  constexpr size_t kMaxTaken = 60'000;
  const bool deep = depth_ >= kMaxDepth;
  if (!deep && taken_ <= kMaxTaken) return false;
  if (!std::exchange(told_, true))
    build_.diagnostics.report(
        DiagCode::ExpressionCost, at,
        deep ? fmt::format("more than {} systems take each other over in a row", kMaxDepth)
             : fmt::format("the systems of this program take over more than {} features", kMaxTaken));
  return true;
}

std::vector<const hir::Features*> SystemFeatures::taken_over(const std::string& system, Span at) {
  build_.values.bases.insert(system);
  std::vector<const hir::Features*> all;
  if (too_much(at)) return all;
  for (const Place& place : named_[system]) {
    auto known = known_.find({place.block, place.instance});
    if (known != known_.end() && known->second.busy) {
      build_.diagnostics
          .report(DiagCode::ValueCycle, at, fmt::format("system '{}' takes itself over", system))
          .note(place.block->name.span, "declared here");
      return {};
    }
    depth_++;
    const hir::Features& taken = of(*place.block, *place.instance);
    depth_--;
    all.push_back(&taken);
    taken_ += 1 + taken.items.size() + taken.softs.size();
  }
  if (too_much(at)) all.clear();
  return all;
}

void lower_instance(Build& build, const Instance& instance, uint32_t file, SystemFeatures& systems,
                    hir::Part& part) {
  InstanceScope scope(*build.scopes, instance, systems);
  WithinUse within(build.diagnostics, instance.used_from);
  hir::lower(instance.blocks, file, scope, build.values.arenas.front(), part, build.diagnostics);
}

}  // namespace

// One part for each file, and one for all modules.
void lower(Build& build) {
  hir::Document& values = build.values;
  values.parts.reserve(build.root->trees.size() + 1);
  values.arenas.emplace_back();
  SystemFeatures systems(build);
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
    lower_instance(build, *build.root, tree->source->id(), systems, part);
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
      lower_instance(build, instance, 0, systems, *modules);
    }
  });
  complete_systems(build);
}

}  // namespace radl::passes
