#include "tools/lsp/symbols.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "compiler/syntax/walk.h"

namespace radl::lsp {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.';
}

std::optional<Space> space_of(std::string_view keyword) {
  if (keyword == "network") return Space::Network;
  if (keyword == "system" || keyword == "node") return Space::System;
  if (keyword == "ansible") return Space::Ansible;
  if (keyword == "configure") return Space::Configure;
  return std::nullopt;
}

Space space_of(ast::Kind kind) {
  static constexpr std::pair<ast::Kind, Space> spaces[] = {
      {ast::Kind::Network, Space::Network}, {ast::Kind::System, Space::System},
      {ast::Kind::Ansible, Space::Ansible}, {ast::Kind::Configure, Space::Configure},
      {ast::Kind::Input, Space::Input},     {ast::Kind::Output, Space::Output},
      {ast::Kind::Use, Space::Module},      {ast::Kind::Let, Space::Let}};
  for (const auto& [known, space] : spaces)
    if (known == kind) return space;
  return Space::Other;
}

class Indexer {
 public:
  explicit Indexer(const ast::Tree& tree) : tree_(tree) {}

  SymbolIndex run() {
    each_block(tree_.blocks, [this](const ast::Block& block) { define(block); });
    sort_names();
    for (const ast::Block* block : tree_.blocks) visit(*block);
    auto by_place = [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; };
    std::stable_sort(index_.occurrences.begin(), index_.occurrences.end(), by_place);
    index_.definitions.insert(index_.definitions.end(), variables_.begin(), variables_.end());
    std::stable_sort(
        index_.definitions.begin(), index_.definitions.end(),
        [](const Definition& a, const Definition& b) { return a.name_span.begin < b.name_span.begin; });
    index_.by_name.clear();
    sort_names();
    return std::move(index_);
  }

 private:
  void define(const ast::Block& block) {
    bool defines = ast::as<ast::FeatureBlock>(&block) || ast::as<ast::Use>(&block) ||
                   ast::as<ast::Configure>(&block) || ast::as<ast::Let>(&block);
    if (!defines || !block.name) return;
    Definition definition{space_of(block.kind), block.name.text, block.name.span, block.span, &block, false};
    if (auto* feature_block = ast::as<ast::FeatureBlock>(&block)) {
      bool may_refer = block.kind == ast::Kind::Network || block.kind == ast::Kind::System;
      definition.reference = may_refer && !feature_block->body.present;
    }
    if (auto* configure = ast::as<ast::Configure>(&block)) definition.reference = !configure->has_body;
    index_.definitions.push_back(definition);
    index_.occurrences.push_back({definition.space, definition.name, {}, definition.name_span, true, false});
  }

  void sort_names() {
    const auto& list = index_.definitions;
    for (uint32_t i = 0; i < list.size(); ++i) index_.by_name.push_back(i);
    std::stable_sort(index_.by_name.begin(), index_.by_name.end(), [&](uint32_t a, uint32_t b) {
      return std::tie(list[a].space, list[a].name) < std::tie(list[b].space, list[b].name);
    });
  }

  void visit(const ast::Block& block) {
    if (auto* each = ast::as<ast::EachBlock>(&block)) {
      Loop loop(*this, each->each, block.span);
      for (const ast::Block* inner : each->blocks) visit(*inner);
      return;
    }
    if (auto* feature_block = ast::as<ast::FeatureBlock>(&block)) {
      if (block.named) value(*block.named);
      return features(feature_block->body, {});
    }
    if (auto* use = ast::as<ast::Use>(&block)) {
      if (block.named) value(*block.named);
      return features(use->body, use->name.text);
    }
    if (auto* let = ast::as<ast::Let>(&block); let && let->value) {
      const Scope parameters(*this, let->parameters, block.span);
      return value(*let->value);
    }
    if (auto* configure = ast::as<ast::Configure>(&block)) {
      if (configure->recipe) recipe(*configure->recipe);
      if (block.named) value(*block.named);
      return resources(configure->resources);
    }
    if (auto* deploy = ast::as<ast::Deploy>(&block)) use(Space::System, deploy->name);
    if (auto* context = ast::as<ast::Contextualize>(&block)) return items(context->items);
    each_value(block, [this](const ast::Expr& expr) { value(expr); });
  }

  void resources(const List<ast::Resource*>& list) {
    for (const ast::Resource* resource : list) {
      if (resource->each) {
        Loop loop(*this, *resource->each, resource->span);
        resources(resource->inner);
        continue;
      }
      if (resource->name) value(*resource->name);
      features(resource->body, {});
    }
  }

  void items(const List<ast::Item*>& list) {
    const ast::Item* before = nullptr;
    for (const ast::Item* item : list) {
      if (item->each) {
        Loop loop(*this, *item->each, item->span);
        items(item->inner);
        continue;
      }
      // `system [a, b] configure c` is several items with the same words.
      bool again = before && before->span.begin == item->span.begin;
      before = item;
      if (!again || !used(item->system.span)) use(Space::System, item->system);
      if (!again || !used(item->configure.span)) use(Space::Configure, item->configure);
      if (again) continue;
      for (const ast::Name& name : item->after) use(Space::Configure, name);
      if (item->systems) value(*item->systems);
      if (item->named) value(*item->named);
      for (const ast::Expr* name : item->after_named) value(*name);
      if (item->when) value(*item->when);
      if (item->step_of) value(*item->step_of);
    }
  }
  bool used(Span span) const {
    return std::any_of(index_.occurrences.begin(), index_.occurrences.end(),
                       [&](const Occurrence& one) { return one.span == span; });
  }

  // Variables are known while one of these lives: the parameters of a function, those of an `each`.
  class Scope {
   public:
    Scope(Indexer& in, const List<ast::Name>& names, Span range) : in_(in), known_(in.loops_.size()) {
      for (const ast::Name& name : names) add(name, name.span, range);
    }
    ~Scope() { in_.loops_.resize(known_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   protected:
    void add(const ast::Name& name, Span whole, Span range) {
      if (!name) return;
      const uint32_t scope = name.span.begin + 1;  // never 0
      in_.variables_.push_back({Space::Variable, name.text, name.span, whole, nullptr, false, scope, range});
      in_.index_.occurrences.push_back({Space::Variable, name.text, {}, name.span, true, false, scope});
      in_.loops_.emplace_back(name.text, scope);
    }

   private:
    Indexer& in_;
    size_t known_;
  };
  class Loop : public Scope {
   public:
    Loop(Indexer& in, const ast::Each& each, Span range) : Scope(in, {}, range) {
      if (each.list) in.value(*each.list);
      add(each.first, each.span, range);
      add(each.second, each.span, range);
    }
  };
  // A use of a loop's variable, of the innermost loop that has one of this name.
  bool variable(const ast::Name& name) {
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      if (loop->first != name.text) continue;
      index_.occurrences.push_back({Space::Variable, name.text, {}, name.span, false, false, loop->second});
      return true;
    }
    return false;
  }

  // `alias`: the features are a module's inputs.
  void features(const ast::Features& list, std::string_view alias) {
    for (const ast::Feature* feature : list.items) {
      if (feature->each) {
        Loop loop(*this, *feature->each, feature->span);
        features(*feature->group, alias);
        continue;
      }
      if (feature->named) value(*feature->named);
      if (feature->value) value(*feature->value);
      if (!alias.empty() && feature->name)
        add(Space::ModuleInput, feature->name.text, alias, feature->name.span);
      if (feature->group) features(*feature->group, {});
      if (auto* text = ast::as<ast::String>(feature->value)) named_by_text(feature->name.text, *text);
    }
  }

  // Features whose text is the name of another block.
  void named_by_text(std::string_view feature, const ast::String& text) {
    if (!text.parts.empty() || text.span.size() < 2) return;
    Span inside{text.span.file, text.span.begin + 1, text.span.end - 1};
    if (tree_.source->text(inside) != text.text) return;  // an escape: places would not match
    if (feature.ends_with(".connection") && feature.starts_with("net_interface.")) {
      add(Space::Network, text.text, {}, inside);
    } else if (feature == "ansible_host") {
      add(Space::Ansible, text.text, {}, inside);
    } else if (feature == "router") {
      size_t comma = text.text.find(',');
      if (comma == std::string_view::npos) return;
      inside.begin += static_cast<uint32_t>(comma + 1);
      add(Space::System, text.text.substr(comma + 1), {}, inside);
    }
  }

  void value(const ast::Expr& expr) {
    if (auto* ec3 = ast::as<ast::Ec3Reference>(&expr)) {
      if (auto space = space_of(ec3->target_kind.text)) use(*space, ec3->target);
    } else if (auto* reference = ast::as<ast::Reference>(&expr)) {
      path(*reference);
    } else if (auto* call = ast::as<ast::Call>(&expr)) {
      if (index_.find(Space::Let, call->function.text)) use(Space::Let, call->function);
    } else if (auto* made = ast::as<ast::Comprehension>(&expr)) {
      Loop loop(*this, made->each, made->span);
      for (const ast::Expr* part : {made->element.key, made->element.value, made->condition})
        if (part) value(*part);
      return;
    }
    each_part(expr, [this](const ast::Expr& part) { value(part); });
  }

  void path(const ast::Reference& reference) {
    const ast::Name& head = reference.parts[0].name;
    if (!head || variable(head)) return;
    const ast::Name* second =
        reference.parts.size() > 1 && reference.parts[1].name ? &reference.parts[1].name : nullptr;
    if (second && head.text == "input") return use(Space::Input, *second);
    if (second && head.text == "output") return use(Space::Output, *second);
    if (auto space = space_of(head.text); second && space) return use(*space, *second);
    if (index_.find(Space::Module, head.text)) {
      use(Space::Module, head);
      if (second) add(Space::ModuleOutput, second->text, head.text, second->span);
    } else if (index_.find(Space::Let, head.text)) {
      use(Space::Let, head);
    } else if (index_.find(Space::System, head.text)) {
      use(Space::System, head);
    } else if (index_.find(Space::Network, head.text)) {
      use(Space::Network, head);
    } else if (index_.find(Space::Input, head.text)) {
      use(Space::Input, head);
    }
  }

  // groups['wn'] in Jinja expressions: the inventory's groups are the systems.
  void recipe(const ast::Recipe& recipe) {
    std::string_view text = tree_.source->text(recipe.span);
    for (size_t at = text.find("groups"); at != std::string_view::npos; at = text.find("groups", at + 6)) {
      size_t name = at + 6;
      while (name < text.size() && text[name] == ' ') ++name;
      bool bracket = name < text.size() && text[name] == '[';
      if (bracket) {
        while (++name < text.size() && text[name] == ' ') {
        }
      }
      bool quoted = bracket && name < text.size() && (text[name] == '\'' || text[name] == '"');
      bool dotted = !bracket && name < text.size() && text[name] == '.';
      if (!quoted && !dotted) continue;
      size_t end = ++name;
      while (end < text.size() && is_word(text[end]) && !(dotted && text[end] == '.')) ++end;
      if (end == name || (quoted && (end == text.size() || text[end] != text[name - 1]))) continue;
      Span span{recipe.span.file, recipe.span.begin + static_cast<uint32_t>(name),
                recipe.span.begin + static_cast<uint32_t>(end)};
      if (!index_.find(Space::System, text.substr(name, end - name)))
        continue;  // `all`, `windows`, a group of the recipe's own
      add(Space::System, text.substr(name, end - name), {}, span);
      index_.occurrences.back().in_recipe = true;
    }
  }

  void use(Space space, const ast::Name& name) {
    if (name && !variable(name)) add(space, name.text, {}, name.span);
  }
  void add(Space space, std::string_view name, std::string_view container, Span span) {
    index_.occurrences.push_back({space, name, container, span, false, false});
  }

  const ast::Tree& tree_;
  SymbolIndex index_;
  std::vector<std::pair<std::string_view, uint32_t>> loops_;  // names and scopes, innermost last
  std::vector<Definition> variables_;
};

}  // namespace

std::string_view space_name(Space space) {
  static constexpr std::string_view names[] = {"network",       "system", "ansible",  "configure",
                                               "input",         "output", "module",   "module input",
                                               "module output", "let",    "variable", "block"};
  static_assert(std::size(names) == static_cast<size_t>(Space::Other) + 1);
  return names[static_cast<size_t>(space)];
}

SymbolIndex index_symbols(const ast::Tree& tree) { return Indexer(tree).run(); }

const Definition* SymbolIndex::find(Space space, std::string_view name) const {
  auto key = std::tie(space, name);
  auto found = std::lower_bound(by_name.begin(), by_name.end(), key, [&](uint32_t i, const auto& wanted) {
    return std::tie(definitions[i].space, definitions[i].name) < wanted;
  });
  if (found == by_name.end()) return nullptr;
  const Definition& definition = definitions[*found];
  return definition.space == space && definition.name == name ? &definition : nullptr;
}

const Occurrence* SymbolIndex::at(uint32_t offset) const {
  auto behind =
      std::upper_bound(occurrences.begin(), occurrences.end(), offset,
                       [](uint32_t value, const Occurrence& item) { return value < item.span.begin; });
  if (behind == occurrences.begin()) return nullptr;
  --behind;
  return offset <= behind->span.end ? &*behind : nullptr;
}

std::vector<const Occurrence*> SymbolIndex::all(const Occurrence& like) const {
  std::vector<const Occurrence*> found;
  for (const Occurrence& item : occurrences) {
    if (item.space == like.space && item.name == like.name && item.container == like.container &&
        item.scope == like.scope)
      found.push_back(&item);
  }
  return found;
}

}  // namespace radl::lsp
