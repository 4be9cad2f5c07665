// How several features of one name combine.
#include "compiler/check/merge.h"

#include <algorithm>
#include <iterator>

#include "compiler/eval/secret_access.h"

namespace radl::sema {
namespace {

constexpr size_t kIndexFrom = 24;  // names; fewer are found as quickly one after the other

std::string name_of(const hir::Feature& feature) { return "`" + std::string(feature.name) + "`"; }

Merged::Kind kind_of(const hir::Feature& feature) {
  if (feature.value.kind() == hir::Kind::Group) return Merged::Kind::Groups;
  if (feature.op == ast::Op::Contains) return Merged::Kind::Set;
  switch (feature.value.kind()) {
    case hir::Kind::Number:
      return Merged::Kind::Number;
    case hir::Kind::Text:
    case hir::Kind::Random:
    case hir::Kind::Boolean:
    case hir::Kind::List:
    case hir::Kind::Reference:
      return Merged::Kind::Value;
    default:
      return Merged::Kind::Unknown;
  }
}

// The ends of an interval that one feature sets.
std::pair<Bound, Bound> ends(const hir::Feature& feature) {
  Bound bound{&feature};
  bool lower = feature.op == ast::Op::Eq || feature.op == ast::Op::Gt || feature.op == ast::Op::Ge;
  bool upper = feature.op == ast::Op::Eq || feature.op == ast::Op::Lt || feature.op == ast::Op::Le;
  return {lower ? bound : Bound{}, upper ? bound : Bound{}};
}

// Whether a later feature overrides an earlier one: it does in another file, or in a system that takes
// the other one over.
bool overrides(const hir::Feature& later, const hir::Feature& earlier) {
  return later.span.file != earlier.span.file || later.layer != earlier.layer;
}

// What distinguishes the groups of one `contains`: their `name`.
std::string group_key(const FeatureSet& group) {
  const Merged* name = group.find("name");
  if (!name) return {};
  if (name->value != nullptr)
    if (auto text = name->value->content(expr::kPermitted).text()) return "t" + std::string(*text);
  const hir::Number* number = name->lower.number() ? name->lower.number() : name->upper.number();
  return number ? "n" + Quantity::of(*number).json() : std::string();
}

}  // namespace

bool same_value(const hir::Value& a, const hir::Value& b) {
  if (a.kind() != b.kind()) return false;
  const hir::Value one = a.content(expr::kPermitted), other = b.content(expr::kPermitted);
  if (auto text = one.text()) return *text == other.text();
  if (auto boolean = one.boolean()) return boolean == other.boolean();
  if (auto* number = one.number()) return Quantity::of(*number) == Quantity::of(*other.number());
  if (auto* to = one.reference())
    return to->target_kind.text == other.reference()->target_kind.text &&
           to->target.text == other.reference()->target.text;
  auto* list = one.list();
  if (!list) return false;  // two random strings differ
  return std::equal(list->begin(), list->end(), other.list()->begin(), other.list()->end(), same_value);
}

std::string_view kind_word(Merged::Kind kind) {
  static constexpr std::string_view words[] = {"a number", "a string", "a group", "a set of values",
                                               "a value"};
  return words[static_cast<size_t>(kind)];
}

std::string joined(const Merged& set) {
  std::string out;
  for (const hir::Feature* one : set.set) {
    if (!out.empty()) out += ",";
    if (auto text = one->value.text()) out += *text;
    if (auto* number = one->value.number()) out += number_text(*number);
  }
  return out;
}

void Merger::add(FeatureSet& set, const hir::Features& features) {
  set.items.reserve(set.items.size() + features.items.size());
  for (const hir::Feature& feature : features.items) add(set, feature);
  for (const hir::Soft& soft : features.softs) {
    FeatureSet inner;
    add(inner, *soft.features);
    set.softs.push_back({&soft, std::move(inner)});
  }
}

void Merger::add(FeatureSet& set, const hir::Feature& feature) {
  Merged* there = const_cast<Merged*>(set.find(feature.name));
  if (!there) return begin(set.add({.kind = kind_of(feature), .first = &feature}), feature);
  Merged::Kind kind = kind_of(feature);
  if (there->kind == Merged::Kind::Unknown || kind == Merged::Kind::Unknown) return;
  if (there->kind != kind) {
    diagnostics_
        .report(DiagCode::MixedKinds, feature.span,
                name_of(feature) + " is " + std::string(kind_word(kind)) + " here, but " +
                    std::string(kind_word(there->kind)) + " before")
        .note(there->first->span, "first used here");
    return;
  }
  switch (kind) {
    case Merged::Kind::Number:
      intersect(*there, feature);
      break;
    case Merged::Kind::Value:
      replace(*there, feature);
      break;
    case Merged::Kind::Groups:
      unite(*there, feature);
      break;
    case Merged::Kind::Set:
      if (std::none_of(there->set.begin(), there->set.end(),
                       [&](const hir::Feature* one) { return same_value(one->value, feature.value); }))
        there->set.push_back(&feature);
      break;
    default:
      break;
  }
}

void Merger::begin(Merged& made, const hir::Feature& feature) {
  switch (made.kind) {
    case Merged::Kind::Number:
      std::tie(made.lower, made.upper) = ends(feature);
      break;
    case Merged::Kind::Groups:
      unite(made, feature);
      break;
    case Merged::Kind::Set:
      made.set.push_back(&feature);
      break;
    default:
      made.value = &feature.value;
      break;
  }
}

void Merger::intersect(Merged& there, const hir::Feature& feature) {
  auto [lower, upper] = ends(feature);
  auto compare = [](const hir::Number& a, const hir::Number& b) {
    return Quantity::of(a).compare(Quantity::of(b));
  };
  const auto [new_lower, new_upper] = narrowed(there, lower, upper, compare);
  if (!new_lower.number() || !new_upper.number() || compare(*new_lower.number(), *new_upper.number()) <= 0) {
    there.lower = new_lower;
    there.upper = new_upper;
    return;
  }
  const Bound& other = new_lower.from == &feature ? there.upper : there.lower;
  const hir::Feature* against = other.from ? other.from : there.first;
  if (there.first->span.file != feature.span.file || against->layer != feature.layer) {
    std::tie(there.lower, there.upper) = ends(feature);
    return;
  }
  diagnostics_
      .report(DiagCode::EmptyInterval, feature.span, "no number meets all the bounds of " + name_of(feature))
      .note(against->span, "it excludes this one");
}

void Merger::replace(Merged& there, const hir::Feature& feature) {
  if (same_value(*there.value, feature.value)) return;
  if (overrides(feature, *there.first)) {
    there.value = &feature.value;
    if (there.first->span.file == feature.span.file) there.first = &feature;
    return;
  }
  diagnostics_
      .report(DiagCode::ConflictingValues, feature.span, name_of(feature) + " has another value already")
      .note(there.first->span, "first set here");
}

void Merger::unite(Merged& there, const hir::Feature& feature) {
  FeatureSet group;
  add(group, *feature.value.group());
  const Merged* name = group.find("name");
  bool list = name && name->kind == Merged::Kind::Value && name->value->kind() == hir::Kind::List;
  if (list || (name && name->kind == Merged::Kind::Groups)) {
    diagnostics_.report(DiagCode::MixedKinds, name->first->span, "the `name` of a group is a string");
    return;
  }
  std::string key = group_key(group);
  for (FeatureSet& known : there.groups) {
    if (group_key(known) != key) continue;
    add(known, *feature.value.group());
    return;
  }
  there.groups.push_back(std::move(group));
}

const Merged* FeatureSet::find(std::string_view name) const {
  if (items.size() < kIndexFrom) {
    auto found =
        std::find_if(items.begin(), items.end(), [&](const Merged& item) { return item.name() == name; });
    return found == items.end() ? nullptr : &*found;
  }
  auto at = index_.find(name);
  return at == index_.end() ? nullptr : &items[at->second];
}

Merged& FeatureSet::add(Merged made) {
  items.push_back(std::move(made));
  if (items.size() >= kIndexFrom)
    for (size_t i = index_.size(); i < items.size(); ++i)
      index_.emplace(items[i].name(), static_cast<uint32_t>(i));
  return items.back();
}

std::string_view FeatureSet::text(std::string_view name) const {
  const Merged* item = find(name);
  return item ? item->text().value_or("") : std::string_view();
}

}  // namespace radl::sema
