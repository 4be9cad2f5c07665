// EC3's inheritance between systems.
#include <set>

#include "compiler/sema/document.h"

namespace radl::sema {
namespace {

constexpr std::string_view kInherit = "ec3_inherit_from";

FeatureSet copy_of(const FeatureSet& set);

Merged copy_of(const Merged& merged) {
  Merged made;
  made.kind = merged.kind;
  made.first = merged.first;
  made.others = merged.others;
  made.lower = merged.lower;
  made.upper = merged.upper;
  made.value = merged.value;
  made.set = merged.set;
  for (const FeatureSet& group : merged.groups) made.groups.push_back(copy_of(group));
  return made;
}

FeatureSet copy_of(const FeatureSet& set) {
  FeatureSet made;
  for (const Merged& item : set.items) made.items.push_back(copy_of(item));
  for (const Soft& soft : set.softs)
    made.softs.push_back({soft.from, std::make_unique<FeatureSet>(copy_of(*soft.features))});
  made.index = set.index;
  return made;
}

class Heirs {
 public:
  Heirs(Document& document, Diagnostics& diagnostics) : document_(document), diagnostics_(diagnostics) {}

  void run() {
    for (Definition& system : document_.systems.list) resolve(system);
  }

 private:
  void resolve(Definition& system) {
    if (done_.contains(&system)) return;
    const Merged* feature = system.features.find(kInherit);
    auto* reference = feature ? ast::as<ast::Ec3Reference>(feature->value) : nullptr;
    if (!reference || reference->target_kind.text != "system") return;
    auto at = document_.systems.index.find(reference->target.text);
    if (at == document_.systems.index.end()) {
      if (!document_.partial)
        diagnostics_.report(
            DiagCode::UnknownSystem, reference->target.span,
            "there is no system `" + std::string(reference->target.text) + "` to inherit from");
      return;
    }
    if (!busy_.insert(&system).second) {
      diagnostics_.report(DiagCode::ValueCycle, reference->span,
                          "system `" + std::string(system.sentence->name.text) + "` inherits from itself");
      done_.insert(&system);
      return;
    }
    Definition& from = document_.systems.list[at->second];
    resolve(from);
    busy_.erase(&system);
    if (done_.insert(&system).second) inherit(system.features, from.features);
  }

  static void inherit(FeatureSet& into, const FeatureSet& from) {
    std::set<std::string_view> own;
    for (const Merged& item : into.items) own.insert(item.name());
    for (const Merged& item : from.items)
      if (item.name() != kInherit && !own.contains(item.name())) into.items.push_back(copy_of(item));
    for (size_t i = 0; i < into.items.size(); ++i) into.index.emplace(into.items[i].name(), i);
    FeatureSet softs = copy_of(from);
    for (Soft& soft : softs.softs) into.softs.push_back(std::move(soft));
  }

  Document& document_;
  Diagnostics& diagnostics_;
  std::set<const Definition*> busy_, done_;
};

}  // namespace

void resolve_inheritance(Document& document, Diagnostics& diagnostics) {
  if (document.dialect == ast::Dialect::Ec3) Heirs(document, diagnostics).run();
}

}  // namespace radl::sema
