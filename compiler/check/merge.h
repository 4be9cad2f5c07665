// Adds features to a set, uniting those of one name.
#pragma once

#include "compiler/check/document.h"

namespace radl::sema {

// The same texts, numbers in base units, references, elements. Random strings differ.
bool same_value(const hir::Value& a, const hir::Value& b);

class Merger {
 public:
  // What contradicts an earlier file replaces it (EC3's composition); in one file it is an error.
  Merger(Arena& arena, Diagnostics& diagnostics) : arena_(arena), diagnostics_(diagnostics) {}
  void add(FeatureSet& set, const hir::Features& features);

 private:
  void add(FeatureSet& set, const hir::Feature& feature);
  void push(FeatureSet& set, const hir::Feature& feature);
  void begin(Merged& made, const hir::Feature& feature);
  void intersect(Merged& there, const hir::Feature& feature);
  void replace(Merged& there, const hir::Feature& feature);
  void unite(Merged& there, const hir::Feature& feature);
  void unite(Merged& there, const FeatureSet& group, const hir::Feature& feature);

  Arena& arena_;
  Diagnostics& diagnostics_;
};

}  // namespace radl::sema
