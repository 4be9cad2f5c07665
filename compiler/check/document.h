// A document: the merged blocks of one or more files. Features with one name are combined as in the reference
// implementation, and keep every place where they were written.
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

// One end of an interval, and the feature that set it.
struct Bound {
  const hir::Feature* from = nullptr;  // null: open
  const hir::Number* number() const { return from == nullptr ? nullptr : from->value.number(); }
};

// All features of one name, merged.
struct Merged {
  enum class Kind : uint8_t { Number, Value, Groups, Set, Unknown } kind;
  const hir::Feature* first = nullptr;   // where it was written first
  Bound lower, upper;                    // Number
  const hir::Value* value = nullptr;     // Value: string, list or random; Unknown: error or expression
  std::vector<FeatureSet> groups;        // Groups: united by name
  std::vector<const hir::Feature*> set;  // Set: EC3's `contains` of values

  std::string_view name() const { return first->name; }
  // Text of a Value; nullopt if it is not a string or is a secret.
  std::optional<std::string_view> text() const { return value == nullptr ? std::nullopt : value->text(); }
};

// The values of a set as one comma-separated text, the form that EC3 sends.
std::string joined(const Merged& set);

struct Soft;

struct FeatureSet {
  std::vector<Merged> items;  // in order of first appearance; added by add()
  std::vector<Soft> softs;    // in document order

  Merged& add(Merged made);  // the name must be new
  const Merged* find(std::string_view name) const;
  // The text of a feature; "" if it is missing, not a string, or a secret.
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
  const hir::Configure* block = nullptr;  // the block that takes effect
  const ast::Configure& written() const { return *block->written; }
};

struct Document {
  template <class T>
  struct Named {
    std::vector<T> list;
    std::unordered_map<std::string_view, uint32_t> index;
    // Returns the definition of that name, and true if it was added now.
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
  // True for EC3 templates that form part of a cluster without its main template. Other files may define the
  // names that they use.
  bool partial = false;
  // Sources with syntax errors. Their definitions may be missing here.
  std::vector<const SourceFile*> broken;

  hir::Document lowered;  // for trees that were passed directly
};

// Reports the errors that the reference finds while parsing: duplicate definitions, bounds that exclude each
// other, two values for one name. A file may define a name once. Later files are merged with earlier ones, as
// in EC3: ranges intersect; otherwise the later value wins.
Document build_document(const hir::Document& values, Diagnostics& diagnostics);
// For trees without references to resolve: RADL 1 and EC3's dialect.
Document build_document(const std::vector<const ast::Tree*>& trees, Diagnostics& diagnostics);

}  // namespace radl::sema
