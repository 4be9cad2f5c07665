// EC3's inheritance between systems.
#include <set>

#include "compiler/sema/document.h"

namespace radl::sema {
namespace {

constexpr std::string_view kInherit = "ec3_inherit_from";

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
    uint32_t at = document_.systems.index.find(reference->target.text);
    if (at == NameIndex::kNone) {
      if (!document_.partial)
        diagnostics_.report(
            DiagCode::UnknownSystem, reference->target.span,
            "there is no system `" + std::string(reference->target.text) + "` to inherit from");
      return;
    }
    if (!busy_.insert(&system).second) {
      diagnostics_.report(DiagCode::ValueCycle, reference->span,
                          "system `" + std::string(system.block->name.text) + "` inherits from itself");
      done_.insert(&system);
      return;
    }
    Definition& from = document_.systems.list[at];
    resolve(from);
    busy_.erase(&system);
    if (done_.insert(&system).second) inherit(system.features, from.features);
  }

  // Nothing changes a set once it is made, so that both may share what they have in common.
  void inherit(FeatureSet& into, const FeatureSet& from) {
    std::set<std::string_view> own;
    for (const Merged& item : into.items) own.insert(item.name());
    for (const Merged& item : from.items)
      if (item.name() != kInherit && !own.contains(item.name())) into.items.push(document_.arena, item);
    into.index = {};
    for (uint32_t i = 0; i < into.items.size(); ++i)
      into.index.insert(document_.arena, into.items[i].name(), i);
    for (const Soft& soft : from.softs) into.softs.push(document_.arena, soft);
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
