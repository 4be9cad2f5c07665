// EC3's `ec3_inherit_from`: copies features and recipe of another block.
//
// EC3 copies the features that a template gives to the other block, but not those that it inherits itself.
// The result does not depend on the order of the blocks.
#include <algorithm>
#include <set>

#include "compiler/compat/ec3/cluster.h"

namespace radl::ec3 {
namespace {

constexpr std::string_view kInherit = "ec3_inherit_from";

sema::FeatureSet without(const sema::FeatureSet& features, std::string_view name) {
  sema::FeatureSet kept;
  for (const sema::Merged& item : features.items)
    if (item.name() != name) kept.add(item);
  kept.softs = features.softs;
  return kept;
}

class Heirs {
 public:
  explicit Heirs(Cluster& cluster) : cluster_(cluster) {}

  void run() {
    for (Aspect* heir : std::vector<Aspect*>(cluster_.order)) {
      const ast::Ec3Reference* reference = from(*heir);
      if (reference == nullptr || circle(*heir, *reference)) continue;
      Aspect* source = cluster_.find(reference->target_kind.text, reference->target.text);
      if (source == nullptr || source->reference)
        missing(*reference);
      else
        inherit(*heir, *source, *reference);
    }
  }

 private:
  static const ast::Ec3Reference* from(const Aspect& aspect) {
    const sema::Merged* feature = aspect.features.find(kInherit);
    auto* reference = feature != nullptr && feature->value ? feature->value->reference() : nullptr;
    return reference != nullptr && reference->target_kind.text == aspect.keyword ? reference : nullptr;
  }

  void missing(const ast::Ec3Reference& reference) {
    std::string word(reference.target_kind.text);
    if (cluster_.part) return;
    cluster_.diagnostics.report(
        DiagCode::UnknownSystem, reference.target.span,
        "there is no " + word + " `" + std::string(reference.target.text) + "` to inherit from");
  }

  bool circle(const Aspect& heir, const ast::Ec3Reference& first) {
    std::set<const Aspect*> seen = {&heir};
    const ast::Ec3Reference* next = &first;
    while (next != nullptr) {
      const Aspect* at = cluster_.find(next->target_kind.text, next->target.text);
      if (at == &heir) {
        bool known = std::any_of(seen.begin(), seen.end(),
                                 [&](const Aspect* each) { return reported_.contains(each); });
        if (!known)
          cluster_.diagnostics.report(
              DiagCode::ValueCycle, first.span,
              std::string(heir.keyword) + " `" + std::string(heir.name) + "` inherits from itself");
        reported_.insert(seen.begin(), seen.end());
        return true;
      }
      if (at == nullptr || !seen.insert(at).second) return false;
      next = from(*at);
    }
    return false;
  }

  void inherit(Aspect& heir, const Aspect& source, const ast::Ec3Reference& reference) {
    if (const ast::Ec3Reference* further = from(source))
      cluster_.diagnostics
          .report(DiagCode::InheritsOnce, reference.target.span,
                  "`" + std::string(heir.name) + "` gets nothing of what `" + std::string(source.name) +
                      "` inherits")
          .note(further->span, "from here")
          .with_help("EC3 copies one step; inherit from `" + std::string(further->target.text) +
                     "`, or write its features in `" + std::string(source.name) + "`");
    // The heir's own features take precedence.
    sema::FeatureSet made = without(source.features, kInherit);
    uint32_t softs_at = place_of_softs(source, made, heir);
    unite(cluster_, made, without(heir.features, kInherit));
    inherited_.push_back({&heir, std::move(made), softs_at});
    recipe(heir, source);
    cluster_.move_to_end(heir);
  }

  // The source's soft groups are first where it has some; else the heir's own, among what is its own.
  static uint32_t place_of_softs(const Aspect& source, const sema::FeatureSet& inherited,
                                 const Aspect& heir) {
    if (!source.features.softs.empty()) return source.softs_at;
    auto at = static_cast<uint32_t>(inherited.items.size());
    for (uint32_t i = 0; i < std::min<size_t>(heir.softs_at, heir.features.items.size()); ++i) {
      std::string_view name = heir.features.items[i].name();
      at += name != kInherit && inherited.find(name) == nullptr;
    }
    return at;
  }

  void recipe(Aspect& heir, const Aspect& source) {
    if (cluster_.find("configure", source.name) == nullptr) return;
    YamlPtr play = Yaml::map(), plays = Yaml::list();
    play->set("ec3_append", Yaml::string(source.name));
    plays->items.push_back(play);
    Aspect* own = cluster_.find("configure", heir.name);
    if (own == nullptr) own = &cluster_.add("configure", heir.name, heir.block);
    if (own->reference) {
      own->recipe = plays;
    } else if (own->recipe && own->recipe->is(Yaml::Kind::List)) {
      own->recipe = join_recipes(plays, own->recipe);
    } else {
      return;
    }
    own->reference = false;
    own->composed = true;
    const auto& blocks = cluster_.find("configure", source.name)->written;
    own->written.insert(own->written.end(), blocks.begin(), blocks.end());
  }

 public:
  // Only now: an heir of an heir gets what the templates say.
  void apply() {
    for (auto& [heir, features, softs_at] : inherited_) {
      heir->features = features;
      heir->softs_at = softs_at;
    }
  }

 private:
  Cluster& cluster_;
  struct Inherited {
    Aspect* heir;
    sema::FeatureSet features;
    uint32_t softs_at;
  };
  std::vector<Inherited> inherited_;
  std::set<const Aspect*> reported_;
};

}  // namespace

void inherit(Cluster& cluster) {
  Heirs heirs(cluster);
  heirs.run();
  heirs.apply();
}

}  // namespace radl::ec3
