// How the features of two blocks of one name become those of one.
#include <algorithm>

#include "compiler/check/merge.h"
#include "compiler/compat/ec3/cluster.h"
#include "compiler/eval/units.h"

namespace radl::ec3 {
namespace {

using sema::Bound;
using sema::FeatureSet;
using sema::Merged;
using Kind = Merged::Kind;

// One bound more: the interval that is left, or the new one alone where nothing is.
void narrow(const Cluster& cluster, Merged& there, Bound lower, Bound upper) {
  const auto [new_lower, new_upper] =
      sema::narrowed(there, lower, upper,
                     [&](const hir::Number& a, const hir::Number& b) { return compare(cluster, a, b); });
  bool common = !new_lower.number() || !new_upper.number() ||
                compare(cluster, *new_lower.number(), *new_upper.number()) <= 0;
  there.lower = common ? new_lower : lower;
  there.upper = common ? new_upper : upper;
}

void narrow(const Cluster& cluster, Merged& there, const Merged& from) {
  bool equal = from.lower.from == from.upper.from ||
               (from.lower.from != nullptr && from.upper.from != nullptr &&
                from.lower.from->op == ast::Op::Eq && from.upper.from->op == ast::Op::Eq);
  if (equal) return narrow(cluster, there, from.lower, from.upper);
  if (from.lower.number()) narrow(cluster, there, from.lower, {});
  if (from.upper.number()) narrow(cluster, there, {}, from.upper);
}

// Lists and random strings differ from all others here.
bool same_value(const hir::Value& a, const hir::Value& b) {
  return (a.text() || a.number() || a.reference()) && sema::same_value(a, b);
}

bool has_value(const Merged& set, const hir::Value& value) {
  return std::any_of(set.set.begin(), set.set.end(),
                     [&](const hir::Feature* known) { return same_value(known->value, value); });
}

std::string text_of(const Merged* feature) {
  if (feature == nullptr) return {};
  if (auto text = feature->text()) return "t" + std::string(*text);
  const hir::Number* number = feature->lower.number() ? feature->lower.number() : feature->upper.number();
  return number ? "n" + sema::Quantity::of(*number).json() : std::string();
}

// What a group is known by: `id`, else `name`, and `class`. "" when it has neither.
std::string key_of(const FeatureSet& group) {
  std::string id = text_of(group.find("id"));
  if (id.size() <= 1) id = text_of(group.find("name"));
  return id.empty() ? id : id + "\n" + text_of(group.find("class"));
}

bool same_features(const FeatureSet& a, const FeatureSet& b);

bool same_feature(const Merged& a, const Merged& b) {
  auto same_bound = [](const Bound& x, const Bound& y) {
    return x.number() && y.number() ? sema::Quantity::of(*x.number()) == sema::Quantity::of(*y.number())
                                    : !x.number() && !y.number();
  };
  if (a.kind != b.kind) return false;
  if (a.kind == Kind::Number) return same_bound(a.lower, b.lower) && same_bound(a.upper, b.upper);
  if (a.kind == Kind::Value) return same_value(*a.value, *b.value);
  auto within = [&](const hir::Feature* one) { return has_value(b, one->value); };
  if (a.kind == Kind::Set)
    return a.set.size() == b.set.size() && std::all_of(a.set.begin(), a.set.end(), within);
  return a.kind == Kind::Groups && a.groups.size() == b.groups.size() &&
         std::equal(a.groups.begin(), a.groups.end(), b.groups.begin(), same_features);
}

bool same_features(const FeatureSet& a, const FeatureSet& b) {
  return a.items.size() == b.items.size() &&
         std::all_of(a.items.begin(), a.items.end(), [&](const Merged& item) {
           const Merged* other = b.find(item.name());
           return other != nullptr && same_feature(item, *other);
         });
}

void unite_groups(Cluster& cluster, Merged& there, const Merged& from) {
  for (const FeatureSet& group : from.groups) {
    std::string key = key_of(group);
    auto known = std::find_if(there.groups.begin(), there.groups.end(), [&](const FeatureSet& each) {
      return key.empty() ? same_features(each, group) : key_of(each) == key;
    });
    if (known == there.groups.end())
      there.groups.push_back(group);
    else if (!key.empty())
      unite(cluster, *known, group);
  }
}

void unite_feature(Cluster& cluster, Merged& there, const Merged& from) {
  if (there.kind == Kind::Unknown || from.kind == Kind::Unknown) return;
  if (there.kind != from.kind) {
    cluster.diagnostics
        .report(DiagCode::MixedKinds, from.first->span,
                "`" + std::string(from.name()) + "` is " + std::string(sema::kind_word(from.kind)) +
                    " here, but " + std::string(sema::kind_word(there.kind)) + " before")
        .note(there.first->span, "first used here")
        .with_help("files that are given together use one form for a feature");
    return;
  }
  switch (from.kind) {
    case Kind::Number:
      return narrow(cluster, there, from);
    case Kind::Groups:
      return unite_groups(cluster, there, from);
    case Kind::Set:
      for (const hir::Feature* one : from.set)
        if (!has_value(there, one->value)) there.set.push_back(one);
      return;
    default:
      if (same_value(*there.value, *from.value)) return;
      there.value = from.value;
      there.first = from.first;
  }
}

}  // namespace

int64_t unit_factor(std::string_view unit) { return expr::size_factor_of_ec3(unit).value_or(0); }

int compare(const Cluster& cluster, const hir::Number& a, const hir::Number& b) {
  int64_t one = unit_factor(a.unit.text), other = unit_factor(b.unit.text);
  bool plain = !cluster.ec3 || one == 0 || other == 0 || a.is_float || b.is_float || a.big || b.big;
  if (plain) return sema::Quantity::of(a).compare(sema::Quantity::of(b));
  __int128 left = static_cast<__int128>(a.integer) * one, right = static_cast<__int128>(b.integer) * other;
  return left < right ? -1 : left > right ? 1 : 0;
}

void unite(Cluster& cluster, FeatureSet& into, const FeatureSet& from) {
  for (const Merged& item : from.items) {
    if (auto* there = const_cast<Merged*>(into.find(item.name())))
      unite_feature(cluster, *there, item);
    else
      into.add(item);
  }
  for (const sema::Soft& soft : from.softs)
    if (std::none_of(into.softs.begin(), into.softs.end(),
                     [&](const sema::Soft& known) { return same_features(known.features, soft.features); }))
      into.softs.push_back(soft);
}

}  // namespace radl::ec3
