#include "compiler/check/document.h"

#include <unordered_map>
#include <utility>

#include "compiler/check/merge.h"

namespace radl::sema {
namespace {

class Builder {
 public:
  Builder(Document& document, Diagnostics& diagnostics)
      : document_(document), diagnostics_(diagnostics), merger_(diagnostics) {}

  void add(const hir::Part& part) {
    for (const hir::Block& network : part.networks) block_of(document_.networks, network);
    for (const hir::Block& system : part.systems) block_of(document_.systems, system);
    for (const hir::Block& host : part.ansibles) block_of(document_.ansibles, host);
    for (const hir::Block& made : part.descriptions) description(made);
    for (const hir::Block& general : part.generals) document_.generals.push_back(&general);
    for (const hir::Configure& made : part.configures) configure(made);
    for (const hir::Deploy& deploy : part.deploys) document_.deploys.push_back(&deploy);
    for (const hir::Contextualize& block : part.contextualizes) contextualize(block);
    if (part.dialect != ast::Dialect::Radl1) document_.dialect = part.dialect;
    if (part.broken) document_.broken.push_back(part.source);
  }

 private:
  template <class Block>
  void duplicate(const Block& first, const Block& again) {
    std::string what(again.keyword.text);
    diagnostics_
        .report(DiagCode::DuplicateDefinition, again.name.span,
                what + " `" + std::string(again.name.text) + "` is defined more than once")
        .note(first.name.span, "first defined here");
  }

  void block_of(Document::Named<Definition>& named, const hir::Block& made) {
    auto [there, fresh] = named.add(made.name.text);
    if (fresh) return define(there, made);
    if (there.block->span.file == made.span.file) duplicate(*there.block, made);
    if (made.present && there.reference) there.block = &made;
    there.reference = there.reference && !made.present;
    if (there.block->span.file != made.span.file || there.block == &made)
      merger_.add(there.features, made.features);
  }

  void description(const hir::Block& made) { define(document_.descriptions.emplace_back(), made); }

  void define(Definition& definition, const hir::Block& made) {
    definition.block = &made;
    definition.reference = !made.present;
    merger_.add(definition.features, made.features);
  }

  void configure(const hir::Configure& made) {
    auto [there, fresh] = document_.configures.add(made.name.text);
    if (fresh)
      there.block = &made;
    else if (there.block->span.file == made.span.file)
      duplicate(*there.block, made);
    else if (made.written->has_body)
      there.block = &made;
  }

  void contextualize(const hir::Contextualize& made) {
    document_.contextualized = true;
    document_.contextualizes.push_back(&made);
    if (made.max_time &&
        (!document_.max_time ||
         Quantity::written(*made.max_time).compare(Quantity::written(*document_.max_time)) > 0))
      document_.max_time = made.max_time;
    for (const hir::Feature& option : made.options) {
      auto [at, fresh] = options_.emplace(option.name, document_.options.size());
      if (fresh)
        document_.options.push_back(&option);
      else
        document_.options[at->second] = &option;
    }
    for (const hir::Item& written : made.items) {
      const hir::Item* item = &written;
      std::string key = std::string(item->system.text) + ' ' + std::string(item->configure.text);
      auto [at, fresh] = items_.emplace(std::move(key), document_.items.size());
      if (fresh) {
        document_.items.push_back(item);
      } else {
        document_.replaced_items.emplace_back(document_.items[at->second], item);
        document_.items[at->second] = item;
      }
    }
  }

  Document& document_;
  Diagnostics& diagnostics_;
  Merger merger_;
  std::unordered_map<std::string_view, size_t> options_;
  std::unordered_map<std::string, size_t> items_;
};

// The conditions under which EC3 launches templates.
bool is_cluster(const Document& document) {
  auto has_image = [&](std::string_view name) {
    const Definition* system = document.systems.find(name);
    return system != nullptr && system->features.find("disk.0.image.url") != nullptr;
  };
  bool front = std::any_of(document.deploys.begin(), document.deploys.end(), [](const hir::Deploy* deploy) {
    auto* count = deploy->count.number();
    return deploy->system.text == "front" && count != nullptr && count->real == 1;
  });
  return front && has_image("front") && has_image("wn");
}

bool is_partial(const Document& document) {
  if (document.dialect != ast::Dialect::Ec3 || is_cluster(document)) return false;
  bool part = false, main = false;
  for (const Definition& description : document.descriptions) {
    std::string_view kind = description.features.text("kind");
    part |= kind == "component" || kind == "images";
    main |= kind == "main";
  }
  return !main && (part || document.deploys.empty());
}

}  // namespace

Document build_document(const hir::Document& values, Diagnostics& diagnostics) {
  Document document;
  Builder builder(document, diagnostics);
  for (const hir::Part& part : values.parts) builder.add(part);
  document.partial = is_partial(document);
  return document;
}

Document build_document(const std::vector<const ast::Tree*>& trees, Diagnostics& diagnostics) {
  hir::Document values;
  values.parts.reserve(trees.size());
  for (const ast::Tree* tree : trees) hir::lower(*tree, values);
  Document document = build_document(values, diagnostics);
  document.lowered = std::move(values);
  return document;
}

}  // namespace radl::sema
