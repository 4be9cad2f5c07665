// A document: what the blocks of one or more files say together. Features of one name are combined as the
// reference combines them, each with the places that it was written at.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/eval/hir.h"
#include "compiler/eval/quantity.h"

namespace radl::sema {

struct FeatureSet;

// One end of an interval: the feature that set it.
struct Bound {
  const hir::Feature* from = nullptr;  // null: open
  const hir::Number* number() const { return from == nullptr ? nullptr : from->value.number(); }
};

// Everything that is said about one name.
struct Merged {
  enum class Kind : uint8_t { Number, Value, Groups, Set, Unknown } kind;
  const hir::Feature* first = nullptr;  // where it was written first
  Bound lower, upper;                   // Number
  const hir::Value* value = nullptr;    // Value: a string, list or random; Unknown: an error or an expression
  std::vector<FeatureSet> groups;       // Groups: united by name
  std::vector<const hir::Feature*> set;  // Set: EC3's `contains` of values

  std::string_view name() const { return first->name; }
  // Of a Value; nullopt for what is no text, or a secret.
  std::optional<std::string_view> text() const { return value == nullptr ? std::nullopt : value->text(); }
};

// All of a set of values as one text with commas, which is what EC3 sends for it.
std::string joined(const Merged& set);

struct Soft;

struct FeatureSet {
  std::vector<Merged> items;  // in order of first appearance; added by add()
  std::vector<Soft> softs;    // in document order

  Merged& add(Merged made);  // of a name that the set does not have yet
  const Merged* find(std::string_view name) const;
  // The text of a feature; "" when it is absent, no text, or a secret.
  std::string_view text(std::string_view name) const;

 private:
  std::unordered_map<std::string_view, uint32_t> index_;  // into items, of large sets
};

struct Soft {
  const hir::Soft* from;
  FeatureSet features;
};

// A network, system, ansible host or description.
struct Definition {
  const hir::Block* block = nullptr;  // the first
  bool reference = false;
  FeatureSet features;
};

struct ConfigureDefinition {
  const hir::Configure* block = nullptr;  // the one that holds
  const ast::Configure& written() const { return *block->written; }
};

struct Document {
  template <class T>
  struct Named {
    std::vector<T> list;
    std::unordered_map<std::string_view, uint32_t> index;
    // The one of that name, and whether it was added.
    std::pair<T&, bool> add(std::string_view name) {
      auto [at, fresh] = index.emplace(name, static_cast<uint32_t>(list.size()));
      if (fresh) list.emplace_back();
      return {list[at->second], fresh};
    }
    const T* find(std::string_view name) const {
      auto at = index.find(name);
      return at == index.end() ? nullptr : &list[at->second];
    }
    std::vector<std::string_view> names() const {  // sorted
      std::vector<std::string_view> out;
      for (const T& one : list) out.push_back(one.block->name.text);
      std::sort(out.begin(), out.end());
      return out;
    }
  };
  Named<Definition> ansibles, networks, systems;
  Named<ConfigureDefinition> configures;
  std::vector<const hir::Deploy*> deploys;
  std::vector<Definition> descriptions;
  std::vector<const hir::Block*> generals;  // EC3's other blocks

  bool contextualized = false;  // there was a `contextualize`
  std::vector<const hir::Contextualize*> contextualizes;
  const ast::Number* max_time = nullptr;     // the largest
  std::vector<const hir::Item*> items;       // same pair replaced, place kept
  std::vector<const hir::Feature*> options;  // same name replaced, place kept
  std::vector<std::pair<const hir::Item*, const hir::Item*>> replaced_items;  // old, new
  ast::Dialect dialect = ast::Dialect::Radl1;
  // Templates of EC3 that are a part of a cluster, without its main one: they may name what other files
  // define.
  bool partial = false;
  // Sources in which something could not be read: what they define may be missing here.
  std::vector<const SourceFile*> broken;

  hir::Document lowered;  // of trees that were given as such
};

// Reports what the reference refuses while it parses: duplicate definitions, bounds that exclude each other,
// two values for one name. In one file a name may be defined once; of several files later definitions are
// united with earlier ones, as EC3 does: ranges intersect, or else the later value holds.
Document build_document(const hir::Document& values, Diagnostics& diagnostics);
// Of trees without names to look up: RADL 1, EC3's dialect.
Document build_document(const std::vector<const ast::Tree*>& trees, Diagnostics& diagnostics);

}  // namespace radl::sema
