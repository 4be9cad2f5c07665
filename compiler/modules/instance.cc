#include "compiler/modules/instance.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/modules/expand.h"

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

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.';
}

bool declares(std::string_view before, std::string_view keyword) {
  if (!before.ends_with(keyword)) return false;
  before.remove_suffix(keyword.size());
  return before.empty() || !is_name_character(before.back());
}

bool stands_in(std::string_view text, std::string_view keyword, std::string_view name) {
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    size_t end = at + name.size();
    if (end < text.size() && is_name_character(text[end])) continue;
    std::string_view before = text.substr(0, at);
    size_t last = before.find_last_not_of(" \t'\"");
    if (last == before.npos || last + 1 == before.size()) continue;
    before = before.substr(0, last + 1);
    if (!keyword.empty() && declares(before, keyword)) return true;
    if (!keyword.empty()) continue;
    for (std::string_view each : {"let", "system", "configure", "as", "each", "for"})
      if (declares(before, each)) return true;
  }
  return false;
}

}  // namespace

bool Instance::may_declare(std::string_view keyword, std::string_view name) const {
  return std::any_of(trees.begin(), trees.end(), [&](const ast::Tree* tree) {
    return tree->syntax_errors && stands_in(tree->source->text(), keyword, name);
  });
}

namespace {

class Instantiation {
 public:
  Instantiation(ModuleLibrary& library, Values& values, Diagnostics& diagnostics)
      : library_(library), values_(values), diagnostics_(diagnostics) {}

  void fill(Instance& instance) {
    instance.order = static_cast<int>(count_++);
    instance.made = std::make_unique<Instance::Made>();
    for (const ast::Tree* tree : instance.trees) {
      if (tree->dialect != ast::Dialect::Radl2) continue;
      for (const ast::Block* block : tree->blocks) {
        if (block->kind == ast::Kind::Input) add(instance.inputs, *block, "input");
        if (block->kind == ast::Kind::Let) add(instance.lets, *block, "value");
        if (block->kind == ast::Kind::System && block->name)
          instance.systems.emplace(block->name.text, block);
      }
    }
    values_.declare(instance);
    for (const ast::Tree* tree : instance.trees) {
      if (tree->dialect != ast::Dialect::Radl2) {
        for (const ast::Block* block : tree->blocks) declare(instance, *block);
        continue;
      }
      for (const ast::Block* block : expanded(tree->blocks, instance, values_, diagnostics_)) {
        instance.blocks.push_back(block);
        declare(instance, *block);
      }
    }
    for (const auto& [name, let] : instance.lets) let_clashes(instance, *let);
    for (const ast::Block* block : instance.blocks) {
      if (auto* use = ast::as<ast::Use>(block)) follow(instance, *use, *tree_of(instance, *use));
    }
  }

 private:
  void declare(Instance& instance, const ast::Block& block) {
    switch (block.kind) {
      case ast::Kind::Assert:
        instance.asserts.push_back(static_cast<const ast::Assert*>(&block));
        break;
      case ast::Kind::Moved:
        instance.moves.push_back(static_cast<const ast::Moved*>(&block));
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
        declare_configure(instance, static_cast<const ast::Configure&>(block));
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

  static const ast::Tree* tree_of(const Instance& instance, const ast::Block& block) {
    for (const ast::Tree* tree : instance.trees)
      if (tree->source->id() == block.span.file) return tree;
    return instance.trees.front();
  }

  static bool is_language_name(std::string_view name) {
    return name == "input" || name == "output" || name == "system" || name == "module" || name == "none" ||
           name == "self";
  }

  void let_clashes(const Instance& instance, const ast::Block& let) {
    const ast::Block* first = nullptr;
    for (const auto* names : {&instance.systems, &instance.configures})
      if (auto found = names->find(let.name.text); found != names->end() && !first) first = found->second;
    for (const ast::Block* block : instance.blocks)
      if (block->kind == ast::Kind::Use && block->name.text == let.name.text && !first) first = block;
    if (is_language_name(let.name.text) || let.name.text == "yes" || let.name.text == "no" ||
        let.name.text == "true" || let.name.text == "false") {
      diagnostics_.report(DiagCode::NameClash, let.name.span,
                          fmt::format("'{}' is a name of the language", let.name.text));
    } else if (first) {
      diagnostics_
          .report(DiagCode::NameClash, let.name.span,
                  fmt::format("'{}' is already the name of something else", let.name.text))
          .note(first->name.span, "declared here");
    } else if (let.name.text.find('.') != std::string_view::npos) {
      diagnostics_.report(DiagCode::NameClash, let.name.span, "the name of a value has no dots");
    }
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
    if (library_.uses().contains(module->source->id()))
      child->used_from = {module->source->id(),
                          instance.used_from.file != 0 ? instance.used_from.use : use.module->span};
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
    if (is_language_name(use.name.text)) {
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
  Values& values_;
  Diagnostics& diagnostics_;
  size_t count_ = 0;
  bool too_many_ = false;
};

}  // namespace

void instantiate(Instance& program, ModuleLibrary& library, Values& values, Diagnostics& diagnostics) {
  Instantiation(library, values, diagnostics).fill(program);
}

}  // namespace radl
