#include "compiler/compat/ec3/cluster.h"

#include <algorithm>
#include <set>

#include "compiler/check/merge.h"

namespace radl::ec3 {
namespace {

bool has_features(const ast::Block& block) {
  switch (block.kind) {
    case ast::Kind::Network:
    case ast::Kind::System:
    case ast::Kind::Ansible:
    case ast::Kind::Description:
    case ast::Kind::General:
      return true;
    default:
      return false;
  }
}

class Adding {
 public:
  Adding(Cluster& cluster, const ast::Tree& tree)
      : cluster_(cluster),
        part_(*cluster.parts.emplace_back(
            std::make_unique<sema::Document>(sema::build_document({&tree}, cluster.diagnostics)))) {}

  void run(const ast::Tree& tree) {
    for (const ast::Block* block : tree.blocks) {
      if (auto* deploy = ast::as<ast::Deploy>(block)) {
        cluster_.deploys.push_back(deploy);
      } else if (auto* contextualize = ast::as<ast::Contextualize>(block)) {
        cluster_.contextualizes.push_back(contextualize);
      } else if (auto* configure = ast::as<ast::Configure>(block)) {
        add(*configure);
      } else if (has_features(*block)) {
        add(static_cast<const ast::FeatureBlock&>(*block));
      }
    }
  }

 private:
  void add(const ast::FeatureBlock& block) {
    Aspect* there = cluster_.find(block.keyword.text, block.name.text);
    if (there == nullptr) there = &cluster_.add(block.keyword.text, block.name.text, &block);
    if (there->block == nullptr) there->block = &block;
    if (!block.body.present) return;
    if (there->reference) there->block = &block;
    there->reference = false;
    // A duplicate in one file has been reported; its features are merged nevertheless.
    if (!seen_.insert({block.keyword.text, block.name.text}).second) {
      if (block.kind == ast::Kind::General)
        cluster_.diagnostics.report(DiagCode::DuplicateDefinition, block.name.span,
                                    std::string(block.keyword.text) + " `" + std::string(block.name.text) +
                                        "` is defined more than once");
      return;
    }
    const auto before = static_cast<uint32_t>(there->features.items.size());
    bool softs = !there->features.softs.empty();
    unite(cluster_, there->features, features_of(block));
    if (!softs) place_softs(*there, before);
    add_targets(*there);
  }

  // In EC3, a block exists from the first reference to it.
  void add_targets(const Aspect& aspect) {
    for (const sema::Merged& item : aspect.features.items) {
      auto* reference = item.value == nullptr ? nullptr : item.value->reference();
      if (reference != nullptr && !cluster_.find(reference->target_kind.text, reference->target.text))
        cluster_.add(reference->target_kind.text, reference->target.text, nullptr);
    }
  }

  // EC3 shows soft groups where the first of them was written.
  static void place_softs(Aspect& aspect, uint32_t before) {
    if (aspect.features.softs.empty()) return;
    aspect.softs_at = before;
    Span soft = aspect.features.softs[0].from->span;
    for (uint32_t i = before; i < aspect.features.items.size(); ++i)
      aspect.softs_at += aspect.features.items[i].first->span.begin < soft.begin;
  }

  // The features of a block as its own file has them.
  const sema::FeatureSet& features_of(const ast::FeatureBlock& block) {
    if (block.kind == ast::Kind::Network) return part_.networks.find(block.name.text)->features;
    if (block.kind == ast::Kind::System) return part_.systems.find(block.name.text)->features;
    if (block.kind == ast::Kind::Ansible) return part_.ansibles.find(block.name.text)->features;
    for (const sema::Definition& description : part_.descriptions)
      if (description.block->span == block.span) return description.features;
    general_ = {};
    for (const hir::Block* general : part_.generals)
      if (general->span == block.span) sema::Merger(cluster_.diagnostics).add(general_, general->features);
    return general_;
  }

  void add(const ast::Configure& block) {
    Aspect* there = cluster_.find("configure", block.name.text);
    bool fresh = there == nullptr;
    if (fresh) there = &cluster_.add("configure", block.name.text, &block);
    if (there->block == nullptr) there->block = &block;
    if (!block.has_body) return;
    if (!seen_.insert({"configure", block.name.text}).second) return;
    YamlPtr recipe = Yaml::null();
    if (block.recipe != nullptr) {
      auto loaded = load_yaml(block.recipe->text);
      recipe = loaded ? *loaded : nullptr;
    }
    bool first = there->reference || fresh;
    there->reference = false;
    if (first) {
      there->block = &block;
      there->recipe = recipe;
    } else if (recipe == nullptr || there->recipe == nullptr) {
      if (recipe == nullptr) there->block = &block;  // the check says what is wrong with it
      there->recipe = nullptr;
    } else {
      there->recipe = join_recipes(there->recipe, recipe);
      there->composed = true;
    }
    there->written.push_back(&block);
  }

  Cluster& cluster_;
  sema::Document& part_;
  sema::FeatureSet general_;
  std::set<std::pair<std::string_view, std::string_view>> seen_;
};

// Each pair of maps is joined once, so that aliases of aliases cost what they are written with.
class Joining {
 public:
  YamlPtr join(const YamlPtr& first, const YamlPtr& second) {
    if (first->kind != second->kind || same_yaml(first, second)) return second;
    if (first->is(Yaml::Kind::List)) {
      YamlPtr made = Yaml::list();
      made->items = first->items;
      made->items.insert(made->items.end(), second->items.begin(), second->items.end());
      return made;
    }
    if (!first->is(Yaml::Kind::Map)) return second;
    YamlPtr& made = made_[{first.get(), second.get()}];
    if (!made) made = join_maps(*first, *second);
    return made;
  }

 private:
  YamlPtr join_maps(const Yaml& first, const Yaml& second) {
    YamlPtr made = Yaml::map();
    made->entries = second.entries;
    for (const auto& entry : first.entries) {
      auto same = std::find_if(made->entries.begin(), made->entries.end(),
                               [&](const auto& each) { return same_yaml(each.first, entry.first); });
      if (same == made->entries.end())
        made->entries.push_back(entry);
      else
        same->second = join(entry.second, same->second);
    }
    return made;
  }

  std::map<std::pair<const Yaml*, const Yaml*>, YamlPtr> made_;
};

}  // namespace

Aspect* Cluster::find(std::string_view keyword, std::string_view name) const {
  auto at = index_.find({keyword, name});
  return at == index_.end() ? nullptr : at->second;
}

Aspect& Cluster::add(std::string_view keyword, std::string_view name, const ast::Block* block) {
  Aspect& made = aspects.emplace_back();
  made.keyword = keyword;
  made.name = name;
  made.block = block;
  made.reference = true;
  order.push_back(&made);
  index_[{keyword, name}] = &made;
  return made;
}

void Cluster::move_to_end(const Aspect& aspect) {
  auto at = std::find(order.begin(), order.end(), &aspect);
  std::rotate(at, at + 1, order.end());
}

void add_template(Cluster& cluster, const ast::Tree& tree) { Adding(cluster, tree).run(tree); }

YamlPtr join_recipes(const YamlPtr& first, const YamlPtr& second) { return Joining().join(first, second); }

}  // namespace radl::ec3
