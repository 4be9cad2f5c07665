#include "compiler/modules/instance.h"

#include <fmt/format.h>

namespace radl {

const Instance* Instance::child(std::string_view name) const {
  for (const auto& each : children) {
    if (each->use->name.text == name) return each.get();
  }
  return nullptr;
}

std::string Instance::full(std::string_view name) const {
  return prefix.empty() ? std::string(name) : fmt::format("{}.{}", prefix, name);
}

namespace {

class Instantiation {
 public:
  Instantiation(ModuleLibrary& library, Diagnostics& diagnostics)
      : library_(library), diagnostics_(diagnostics) {}

  void fill(Instance& instance) {
    instance.order = static_cast<int>(count_++);
    for (const ast::Tree* tree : instance.trees) {
      for (const ast::Block* block : tree->blocks) declare(instance, *block);
    }
    for (const ast::Tree* tree : instance.trees) {
      for (const ast::Block* block : tree->blocks) {
        if (auto* use = ast::as<ast::Use>(block)) follow(instance, *use, *tree);
      }
    }
  }

 private:
  // Of several files that define one, the later holds, as in the document.
  static void declare_configure(Instance& instance, const ast::Block& block) {
    auto [at, fresh] = instance.configures.emplace(block.name.text, &block);
    if (fresh || at->second->span.file == block.span.file) return;
    if (static_cast<const ast::Configure&>(block).has_body) at->second = &block;
  }

  void declare(Instance& instance, const ast::Block& block) {
    switch (block.kind) {
      case ast::Kind::Input:
        add(instance.inputs, block, "input");
        break;
      case ast::Kind::Output:
        add(instance.outputs, block, "output");
        break;
      // Twice the same network, system or configure: the check of the document reports these.
      case ast::Kind::Network:
        instance.networks.emplace(block.name.text, &block);
        break;
      case ast::Kind::System:
        instance.systems.emplace(block.name.text, &block);
        break;
      case ast::Kind::Configure:
        declare_configure(instance, block);
        break;
      case ast::Kind::Ansible:
        if (instance.parent != nullptr) refuse(block, "`ansible`");
        instance.ansible.emplace(block.name.text, &block);
        break;
      case ast::Kind::Description:
        if (instance.parent != nullptr) refuse(block, "`description`");
        break;
      case ast::Kind::Deploy:
        instance.deploys.push_back(static_cast<const ast::Deploy*>(&block));
        break;
      case ast::Kind::Contextualize:
        declare_contextualize(instance, static_cast<const ast::Contextualize&>(block));
        break;
      default:
        break;
    }
  }

  // Of several files the later definition holds, as EC3 has it; a reference (no parentheses) never does.
  void declare_configure(Instance& instance, const ast::Configure& configure) {
    auto [known, fresh] = instance.configures.emplace(configure.name.text, &configure);
    if (!fresh && configure.has_body && known->second->span.file != configure.span.file)
      known->second = &configure;
  }

  void declare_contextualize(Instance& instance, const ast::Contextualize& block) {
    if (instance.parent != nullptr && (block.max_time != nullptr || !block.options.empty())) {
      refuse(block, "`contextualize` with a time limit or options");
    }
    instance.contextualize.push_back(&block);
  }

  void refuse(const ast::Block& block, std::string_view what) {
    diagnostics_.report(DiagCode::ModuleFile, block.keyword.span,
                        fmt::format("{} belongs to the program, not to a module", what));
  }

  void add(Instance::ByName& names, const ast::Block& block, std::string_view what) {
    auto [first, fresh] = names.emplace(block.name.text, &block);
    if (fresh) return;
    diagnostics_
        .report(DiagCode::NameClash, block.name.span,
                fmt::format("the {} '{}' is declared more than once", what, block.name.text))
        .note(first->second->name.span, "first declared here");
  }

  void follow(Instance& instance, const ast::Use& use, const ast::Tree& tree) {
    if (use.module == nullptr || !use.name) return;
    if (clashes(instance, use)) return;
    instance.failed.insert(use.name.text);
    const ast::Tree* module = library_.load(*use.module, *tree.source);
    if (module == nullptr || cyclic(instance, use, *module)) return;
    if (count_ >= kMaxInstances) {
      if (!std::exchange(too_many_, true)) {
        diagnostics_.report(DiagCode::ModuleCycle, use.span,
                            fmt::format("more than {} instances of modules", kMaxInstances));
      }
      return;
    }
    auto child = std::make_unique<Instance>();
    child->prefix = instance.full(use.name.text);
    child->parent = &instance;
    child->use = &use;
    child->trees = {module};
    Instance& made = *child;
    instance.children.push_back(std::move(child));
    instance.failed.erase(use.name.text);
    fill(made);
  }

  bool clashes(const Instance& instance, const ast::Use& use) {
    const ast::Block* first = nullptr;
    if (const Instance* child = instance.child(use.name.text)) first = child->use;
    for (const auto* names : {&instance.systems, &instance.configures}) {
      if (auto found = names->find(use.name.text); found != names->end() && first == nullptr)
        first = found->second;
    }
    if (use.name.text == "input" || use.name.text == "system" || use.name.text == "module" ||
        use.name.text == "none" || use.name.text == "self") {
      diagnostics_.report(DiagCode::NameClash, use.name.span,
                          fmt::format("'{}' is a name of the language", use.name.text));
      return true;
    }
    if (first == nullptr) return false;
    diagnostics_
        .report(DiagCode::NameClash, use.name.span,
                fmt::format("'{}' is already the name of something else", use.name.text))
        .note(first->name.span, "first declared here");
    return true;
  }

  bool cyclic(const Instance& instance, const ast::Use& use, const ast::Tree& module) {
    std::string way = module.source->path();
    for (const Instance* at = &instance; at != nullptr; at = at->parent) {
      for (const ast::Tree* tree : at->trees) {
        if (tree->source->path() == module.source->path()) {
          diagnostics_.report(DiagCode::ModuleCycle, use.module->span, "this module uses itself")
              .with_help(way + " <- " + tree->source->path());
          return true;
        }
      }
      way += " <- " + at->trees.front()->source->path();
    }
    return false;
  }

  ModuleLibrary& library_;
  Diagnostics& diagnostics_;
  size_t count_ = 0;
  bool too_many_ = false;
};

}  // namespace

std::unique_ptr<Instance> instantiate(const std::vector<const ast::Tree*>& trees, ModuleLibrary& library,
                                      Diagnostics& diagnostics) {
  auto program = std::make_unique<Instance>();
  program->trees = trees;
  Instantiation(library, diagnostics).fill(*program);
  return program;
}

}  // namespace radl
