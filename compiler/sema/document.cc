#include "compiler/sema/document.h"

#include <unordered_map>
#include <utility>

#include "compiler/sema/in_parts.h"
#include "compiler/sema/merge.h"

namespace radl::sema {
namespace {

class Builder {
 public:
  Builder(Document& document, Diagnostics& diagnostics)
      : document_(document), diagnostics_(diagnostics), merger_(document.arena, diagnostics) {}

  void reserve(const std::vector<const ast::Tree*>& trees) {
    size_t systems = 0, deploys = 0;
    for (const ast::Tree* tree : trees)
      for (const ast::Block* block : tree->blocks) {
        systems += block->kind == ast::Kind::System;
        deploys += block->kind == ast::Kind::Deploy;
      }
    document_.systems.list.reserve(systems);
    document_.deploys.reserve(deploys);
  }

  void add(const ast::Tree& tree) {
    for (const ast::Block* block : tree.blocks) add(*block);
    merge_waiting();
  }

 private:
  void add(const ast::Block& block) {
    switch (block.kind) {
      case ast::Kind::Network:
        block_of(document_.networks, block);
        break;
      case ast::Kind::System:
        block_of(document_.systems, block);
        break;
      case ast::Kind::Ansible:
        block_of(document_.ansibles, block);
        break;
      case ast::Kind::Description:
        description(static_cast<const ast::FeatureBlock&>(block));
        break;
      case ast::Kind::General:
        document_.generals.push_back(static_cast<const ast::FeatureBlock*>(&block));
        break;
      case ast::Kind::Configure:
        configure(static_cast<const ast::Configure&>(block));
        break;
      case ast::Kind::Deploy:
        document_.deploys.push_back(static_cast<const ast::Deploy*>(&block));
        break;
      case ast::Kind::Contextualize:
        contextualize(static_cast<const ast::Contextualize&>(block));
        break;
      default:
        break;
    }
  }

  void duplicate(const ast::Block& first, const ast::Block& again) {
    std::string what(again.keyword.text);
    diagnostics_
        .report(DiagCode::DuplicateDefinition, again.name.span,
                what + " `" + std::string(again.name.text) + "` is defined more than once")
        .note(first.name.span, "first defined here");
  }

  void block_of(Document::Named<Definition>& named, const ast::Block& block) {
    const auto& made = static_cast<const ast::FeatureBlock&>(block);
    auto [at, fresh] =
        named.index.insert(document_.arena, made.name.text, static_cast<uint32_t>(named.list.size()));
    if (fresh) {
      named.list.emplace_back();
      Definition& definition = named.list.back();
      definition.block = &made;
      definition.reference = !made.body.present;
      if (&named == &document_.systems)
        ++waiting_;
      else
        merger_.add(definition.features, made.body);
      return;
    }
    merge_waiting();
    Definition& there = named.list[at];
    if (there.block->span.file == made.span.file) duplicate(*there.block, made);
    if (made.body.present && there.reference) there.block = &made;
    there.reference = there.reference && !made.body.present;
    if (there.block->span.file != made.span.file || there.block == &made)
      merger_.add(there.features, made.body);
  }

  // Features of the systems that came last, of which each stands in one block so far: one has nothing to do
  // with another, so that they are merged side by side. What is found depends on no other either.
  void merge_waiting() {
    std::vector<Definition>& systems = document_.systems.list;
    const size_t first = systems.size() - waiting_;
    Parts parts(std::exchange(waiting_, 0));
    auto merge = [&](size_t begin, size_t end, Merger& merger) {
      for (size_t i = first + begin; i < first + end; ++i)
        merger.add(systems[i].features, systems[i].block->body);
    };
    if (parts.size() > 1) {
      std::vector<Arena> arenas(parts.size());
      std::vector<Diagnostics> found(parts.size());
      bool done = parts.run([&](size_t begin, size_t end, size_t part) {
        Merger merger(arenas[part], found[part]);
        merge(begin, end, merger);
      });
      for (Arena& arena : arenas) document_.more_arenas.push_back(std::move(arena));
      if (done && hand_over(found, diagnostics_)) return;
      for (size_t i = first; i < systems.size(); ++i) systems[i].features = {};
    }
    merge(0, systems.size() - first, merger_);
  }

  void description(const ast::FeatureBlock& made) {
    document_.descriptions.emplace_back();
    Definition& definition = document_.descriptions.back();
    definition.block = &made;
    definition.reference = !made.body.present;
    merger_.add(definition.features, made.body);
  }

  void configure(const ast::Configure& made) {
    auto [at, fresh] = document_.configures.index.insert(
        document_.arena, made.name.text, static_cast<uint32_t>(document_.configures.list.size()));
    if (fresh) {
      document_.configures.list.push_back({&made});
      return;
    }
    ConfigureDefinition& there = document_.configures.list[at];
    if (there.block->span.file == made.span.file)
      duplicate(*there.block, made);
    else if (made.has_body)
      there.block = &made;
  }

  void contextualize(const ast::Contextualize& made) {
    document_.contextualized = true;
    document_.contextualizes.push_back(&made);
    if (made.max_time &&
        (!document_.max_time ||
         Quantity::written(*made.max_time).compare(Quantity::written(*document_.max_time)) > 0))
      document_.max_time = made.max_time;
    for (const ast::Option* option : made.options) {
      auto [at, fresh] = options_.emplace(option->name.text, document_.options.size());
      if (fresh)
        document_.options.push_back(option);
      else
        document_.options[at->second] = option;
    }
    for (const ast::Item* item : made.items) {
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
  size_t waiting_ = 0;  // systems at the end of the list whose features are not merged yet
  std::unordered_map<std::string_view, size_t> options_;
  std::unordered_map<std::string, size_t> items_;
};

// What EC3 asks of the templates that it launches.
bool is_cluster(const Document& document) {
  auto has_image = [&](std::string_view name) {
    const Definition* system = document.systems.find(name);
    return system != nullptr && system->features.find("disk.0.image.url") != nullptr;
  };
  bool front = std::any_of(document.deploys.begin(), document.deploys.end(), [](const ast::Deploy* deploy) {
    auto* count = ast::as<ast::Number>(deploy->count);
    return deploy->name.text == "front" && count != nullptr && count->real == 1;
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

Document build_document(const std::vector<const ast::Tree*>& trees, Diagnostics& diagnostics) {
  Document document;
  Builder builder(document, diagnostics);
  builder.reserve(trees);
  for (const ast::Tree* tree : trees) {
    builder.add(*tree);
    if (tree->dialect != ast::Dialect::Radl1) document.dialect = tree->dialect;
    if (tree->syntax_errors) document.broken.push_back(tree->source);
  }
  document.partial = is_partial(document);
  return document;
}

}  // namespace radl::sema
