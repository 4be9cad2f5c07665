#include "compiler/eval/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/eval/expand.h"
#include "compiler/eval/functions.h"

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
    ++count_;
    instance.made = std::make_unique<Instance::Made>();
    for (const ast::Tree* tree : instance.trees) {
      if (tree->dialect != ast::Dialect::Radl2) continue;
      for (const ast::Block* block : tree->blocks) {
        if (block->kind == ast::Kind::Input) add(instance.inputs, *block, "input");
        if (block->kind == ast::Kind::Let) add(instance.lets, *block, "value");
        if (block->kind == ast::Kind::System && block->name)
          instance.systems.emplace(block->name.text, block);
        if (block->kind == ast::Kind::Network && block->name)
          instance.networks.emplace(block->name.text, block);
      }
    }
    values_.declare(instance);
    Filling filling(*this, instance);
    instance.pending = &filling;
    filling.run();
    instance.pending = nullptr;
    std::set<std::pair<uint32_t, uint32_t>> checked;  // by place: those inside an `each` are several
    for (const auto& [name, let] : instance.lets)
      if (checked.insert({let->name.span.file, let->name.span.begin}).second) let_clashes(instance, *let);
  }

 private:
  // An instance's blocks, written out in the order in which they are needed: modules first, since what they
  // put out may decide what else there is.
  class Filling final : public Instance::Pending {
   public:
    Filling(Instantiation& all, Instance& instance)
        : all_(all), instance_(instance), expander_(instance, all.values_, all.diagnostics_) {
      for (const ast::Tree* tree : instance.trees)
        for (const ast::Block* block : tree->blocks)
          written_.push_back({block, tree, tree->dialect == ast::Dialect::Radl2 ? Fresh : Done, {}});
    }

    void run() {
      for (size_t i = 0; i < written_.size(); ++i)
        if (holds(*written_[i].block, ast::Kind::Use)) write_out(i);
      for (size_t i = 0; i < written_.size(); ++i) write_out(i);
      for (const Written& one : written_) {
        const bool plain = one.tree->dialect != ast::Dialect::Radl2;
        if (plain) all_.declare_name(instance_, *one.block);
        if (plain) all_.declare_part(instance_, *one.block);
        for (const ast::Block* block : one.made) {
          instance_.blocks.push_back(block);
          all_.declare_part(instance_, *block);
        }
      }
      all_.arrange_children(instance_);
    }

    bool bring(ast::Kind kind, std::string_view name) override {
      bool waiting = false;
      for (size_t i = 0; i < written_.size(); ++i) {
        const ast::Block& block = *written_[i].block;
        const bool other =
            !name.empty() && block.kind == kind && block.named == nullptr && block.name.text != name;
        if (other || !holds(block, kind)) continue;
        if (written_[i].state == Busy)
          waiting = true;
        else
          write_out(i);
      }
      return !waiting || declared(kind, name);
    }

   private:
    enum State { Fresh, Busy, Done };
    struct Written {
      const ast::Block* block;
      const ast::Tree* tree;
      State state;
      std::vector<const ast::Block*> made;
    };

    static bool holds(const ast::Block& block, ast::Kind kind) {
      auto* each = ast::as<ast::EachBlock>(&block);
      if (each == nullptr) return block.kind == kind;
      return std::any_of(each->blocks.begin(), each->blocks.end(),
                         [&](const ast::Block* inner) { return holds(*inner, kind); });
    }

    bool declared(ast::Kind kind, std::string_view name) const {
      if (instance_.left_out.contains({kind, name})) return true;  // which is said better
      if (kind == ast::Kind::Use) return instance_.child(name) || instance_.failed.contains(name);
      return (kind == ast::Kind::Output ? instance_.outputs : instance_.systems).contains(name);
    }

    void write_out(size_t i) {
      if (written_[i].state != Fresh) return;
      written_[i].state = Busy;
      std::vector<const ast::Block*> made = expander_.expanded(*written_[i].block);
      written_[i].state = Done;
      written_[i].made = made;
      for (const ast::Block* block : made) all_.declare_name(instance_, *block);
      for (const ast::Block* block : made)
        if (auto* use = ast::as<ast::Use>(block)) all_.follow(instance_, *use, *written_[i].tree);
      // A module excluded by `when` is still read, so that its errors are found early.
      auto* left_out = made.empty() ? ast::as<ast::Use>(written_[i].block) : nullptr;
      if (left_out && left_out->module) all_.library_.load(*left_out->module, *written_[i].tree->source);
    }

    Instantiation& all_;
    Instance& instance_;
    Expander expander_;
    std::vector<Written> written_;
  };

  // In the order of the source, whichever was needed first.
  void arrange_children(Instance& instance) {
    std::map<const ast::Use*, size_t> places;
    for (const ast::Block* block : instance.blocks)
      if (auto* use = ast::as<ast::Use>(block)) places.emplace(use, places.size());
    std::stable_sort(instance.children.begin(), instance.children.end(),
                     [&](const auto& a, const auto& b) { return places.at(a->use) < places.at(b->use); });
    for (const auto& child : instance.children) {  // what `each` made since
      if (const ast::Block* first = system_or_configure(instance, child->use->name.text))
        report_clash(*child->use, *first);
    }
  }

  // What is found by its name.
  void declare_name(Instance& instance, const ast::Block& block) {
    switch (block.kind) {
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
      case ast::Kind::Ansible:
        if (instance.parent != nullptr) refuse(block, "`ansible`");
        instance.ansible.emplace(block.name.text, &block);
        break;
      default:
        break;
    }
  }

  // What counts in its order.
  void declare_part(Instance& instance, const ast::Block& block) {
    switch (block.kind) {
      case ast::Kind::Assert:
        instance.asserts.push_back(static_cast<const ast::Assert*>(&block));
        break;
      case ast::Kind::Moved:
        instance.moves.push_back(static_cast<const ast::Moved*>(&block));
        break;
      case ast::Kind::Configure:
        declare_configure(instance, static_cast<const ast::Configure&>(block));
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

  // Among several files, the later definition wins, as in EC3; a reference (no parentheses) never does.
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

  static bool is_language_name(std::string_view name) {
    return name == "input" || name == "output" || name == "system" || name == "module" || name == "none" ||
           name == "self";
  }

  void let_clashes(const Instance& instance, const ast::Block& let) {
    const ast::Block* first = system_or_configure(instance, let.name.text);
    for (const ast::Block* block : instance.blocks)
      if (block->kind == ast::Kind::Use && block->name.text == let.name.text && !first) first = block;
    auto* function = ast::as<ast::Let>(&let);
    if (function != nullptr && !function->parameters.empty() &&
        expr::find_function(let.name.text) != nullptr) {
      diagnostics_.report(DiagCode::NameClash, let.name.span,
                          fmt::format("'{}' is a function of the language", let.name.text));
    } else if (is_language_name(let.name.text) || let.name.text == "yes" || let.name.text == "no" ||
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
    } else if (auto network = instance.networks.find(let.name.text); network != instance.networks.end()) {
      diagnostics_
          .report(DiagCode::HiddenNetwork, let.name.span,
                  fmt::format("`{}` means this value, not the network of the same name", let.name.text))
          .with_help(fmt::format("rename the value, or write '{}' where you mean the network", let.name.text))
          .note(network->second->name.span, "the network is declared here");
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
    child->used_from = used_from(instance, use, module->source->id());
    Instance& made = *child;
    instance.children.push_back(std::move(child));
    instance.failed.erase(use.name.text);
    fill(made);
  }

  // A library's own `use` means nothing to a user; report the one that loaded the library.
  UsedFrom used_from(const Instance& instance, const ast::Use& use, uint32_t file) const {
    const UsedFrom& outer = instance.used_from;
    if (outer.library) return {file, outer.use, true, outer.outer};
    return {file, use.module->span, library_.uses().contains(file), outer.file != 0 ? &outer : nullptr};
  }

  static const ast::Block* system_or_configure(const Instance& instance, std::string_view name) {
    for (const auto* names : {&instance.systems, &instance.configures})
      if (auto found = names->find(name); found != names->end()) return found->second;
    return nullptr;
  }

  void report_clash(const ast::Use& use, const ast::Block& first) {
    diagnostics_
        .report(DiagCode::NameClash, use.name.span,
                fmt::format("'{}' is already the name of something else", use.name.text))
        .note(first.name.span, "first declared here");
  }

  bool clashes(const Instance& instance, const ast::Use& use) {
    const ast::Block* first = system_or_configure(instance, use.name.text);
    if (const Instance* child = instance.child(use.name.text)) first = child->use;
    if (is_language_name(use.name.text)) {
      diagnostics_.report(DiagCode::NameClash, use.name.span,
                          fmt::format("'{}' is a name of the language", use.name.text));
      return true;
    }
    if (first != nullptr) report_clash(use, *first);
    return first != nullptr;
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
  int order = 0;
  visit(program, [&](Instance& instance) { instance.order = order++; });
}

}  // namespace radl
