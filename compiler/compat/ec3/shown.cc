// RADL text in EC3's layout, which a recipe gets for `ec3_xpath` of a whole block.
#include <algorithm>

#include "common/replaced.h"
#include "compiler/compat/ec3/cluster.h"

namespace radl::ec3 {
namespace {

using sema::FeatureSet;
using sema::Merged;
using Kind = Merged::Kind;

std::string in_quotes(std::string_view text) { return "'" + replaced(std::string(text), "'", "\\'") + "'"; }

std::string shown_number(const hir::Number& number) {
  return sema::number_text(number) + std::string(number.unit.text);
}

std::string value_text(const hir::Value& value) {
  if (auto* number = value.number()) return shown_number(*number);
  if (auto text = value.text()) return in_quotes(*text);
  if (auto* reference = value.reference()) return in_quotes(reference->target.text);
  return "''";
}

class Writer {
 public:
  explicit Writer(bool outermost) : outermost_(outermost) {}

  std::string features(const FeatureSet& set, const std::string& margin, uint32_t softs_at) {
    std::vector<std::string> all;
    for (uint32_t i = 0; i < set.items.size(); ++i) {
      if (i == softs_at) softs(set, margin, all);
      feature(set.items[i], margin, all);
    }
    if (softs_at >= set.items.size()) softs(set, margin, all);
    std::string out;
    for (const std::string& each : all) out += (out.empty() ? "" : " and\n") + each;
    return out;
  }

 private:
  void softs(const FeatureSet& set, const std::string& margin, std::vector<std::string>& all) {
    for (const sema::Soft& soft : set.softs)
      all.push_back(margin + "soft " + sema::number_text(*soft.from->weight.number()) + " (\n" +
                    Writer(false).features(soft.features, margin + "  ", 0) + "\n" + margin + ")");
  }

  void feature(const Merged& item, const std::string& margin, std::vector<std::string>& all) {
    std::string name = margin + std::string(item.name());
    switch (item.kind) {
      case Kind::Number: {
        // Two templates that give the same value say it once.
        bool equal = item.lower.from != nullptr && item.upper.from != nullptr &&
                     item.lower.from->op == ast::Op::Eq && item.upper.from->op == ast::Op::Eq;
        bool one = equal || item.lower.from == item.upper.from;
        auto put = [&](const sema::Bound& bound) {
          if (bound.from == nullptr) return;
          // EC3 keeps no operator of a decimal number.
          std::string op(bound.number()->is_float ? "=" : ast::op_text(bound.from->op));
          all.push_back(name + " " + op + " " + shown_number(*bound.number()));
        };
        put(item.lower);
        if (!one) put(item.upper);
        break;
      }
      case Kind::Value:
        all.push_back(name + " = " + value_text(*item.value));
        break;
      case Kind::Set:
        if (outermost_)
          all.push_back(name + " = " + in_quotes(sema::joined(item)));
        else
          for (const hir::Feature* one : item.set)
            all.push_back(name + " contains " + value_text(one->value));
        break;
      case Kind::Groups:
        for (const FeatureSet& group : item.groups)
          all.push_back(name + " contains (\n" + Writer(false).features(group, margin + "  ", 0) + "\n" +
                        margin + ")");
        break;
      case Kind::Unknown:
        break;
    }
  }

  bool outermost_;  // of a block, where EC3 joins sets
};

std::string shown(const Aspect& aspect) {
  std::string head = std::string(aspect.keyword) + " " + std::string(aspect.name);
  if (aspect.keyword == "configure") {
    if (aspect.reference || !aspect.recipe || aspect.recipe->empty()) return head;
    const Yaml& recipe = *aspect.recipe;
    return head + " (\n@begin\n" + (recipe.is(Yaml::Kind::String) ? recipe.text : dump_yaml(recipe)) +
           "\n@end\n)";
  }
  return aspect.reference
             ? head
             : head + " (\n" + Writer(true).features(aspect.features, "  ", aspect.softs_at) + "\n)";
}

}  // namespace

std::string shown_aspects(const Cluster&, const std::vector<const Aspect*>& aspects) {
  std::string out;
  for (const Aspect* aspect : aspects) out += (out.empty() ? "" : "\n\n") + shown(*aspect);
  return out;
}

}  // namespace radl::ec3
