#include "tools/fmt/renames.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/syntax/parser.h"
#include "compiler/syntax/renamed.h"
#include "compiler/syntax/walk.h"
#include "tools/fmt/separators.h"

namespace radl::formatter {
namespace {

class Renames {
 public:
  std::vector<Rewrite> of(const ast::Tree& tree) {
    each_block(tree.blocks, [this](const ast::Block& block) {
      if (auto* use = ast::as<ast::Use>(&block)) inputs(*use);
      if (auto* configure = ast::as<ast::Configure>(&block)) resources(configure->resources);
    });
    for (const ast::Block* block : tree.blocks)
      each_value(*block, [this](const ast::Expr& written) { value(written); });
    return std::move(edits_);
  }

 private:
  void rename(const ast::Name& name, std::string_view to) {
    if (!to.empty()) edits_.push_back({name.span.begin, name.span.end, std::string(to)});
  }

  // Also in a map of options: options = { workers = 2 }
  template <class Present>
  void names(const ast::Features& body, const Present& present) {
    for (const ast::Feature* feature : body.items) {
      if (feature->named == nullptr) rename(feature->name, present(feature->name.text));
      if (feature->group != nullptr) names(*feature->group, present);
      auto* options = ast::as<ast::MapValue>(feature->value);
      if (options == nullptr || (feature->name.text != "options" && feature->name.text != "with")) continue;
      for (const ast::Entry& entry : options->entries)
        if (entry.key == nullptr) rename(entry.name, present(entry.name.text));
    }
  }

  void inputs(const ast::Use& use) {
    if (use.module == nullptr) return;
    const std::string_view module = use.module->text;
    if (use.name) modules_.emplace(use.name.text, module);
    names(use.body, [module](std::string_view name) { return renamed_input(module, name); });
  }

  void resources(const List<ast::Resource*>& list) {
    for (const ast::Resource* resource : list) {
      const std::string_view type = resource->type.text;
      names(resource->body, [type](std::string_view name) { return renamed_property(type, name); });
      resources(resource->inner);
    }
  }

  void value(const ast::Expr& written) {
    auto* reference = ast::as<ast::Reference>(&written);
    if (reference != nullptr && reference->parts.size() > 1 && reference->parts[1].name) {
      const auto module = modules_.find(reference->parts[0].name.text);
      const ast::Name& output = reference->parts[1].name;
      if (module != modules_.end()) rename(output, renamed_output(module->second, output.text));
    }
    each_part(written, [this](const ast::Expr& part) { value(part); });
  }

  std::map<std::string_view, std::string_view> modules_;  // by the name of the instance
  std::vector<Rewrite> edits_;
};

}  // namespace

std::string with_present_names(const SourceFile& source) {
  Diagnostics unheard;
  auto tree = parse(source, unheard);
  if (tree->syntax_errors || tree->dialect != ast::Dialect::Radl2) return std::string(source.text());
  return rewritten(source.text(), Renames().of(*tree));
}

}  // namespace radl::formatter
