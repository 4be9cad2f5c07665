// Adds features to a set, uniting those of one name.
#pragma once

#include "compiler/sema/document.h"

namespace radl::sema {

class Merger {
 public:
  // What contradicts an earlier file replaces it (EC3's composition); in one file it is an error.
  Merger(Arena& arena, Diagnostics& diagnostics) : arena_(arena), diagnostics_(diagnostics) {}
  void add(FeatureSet& set, const ast::Features& features);

 private:
  void add(FeatureSet& set, const ast::Feature& feature);
  void begin(Merged& made, const ast::Feature& feature);
  void intersect(Merged& there, const ast::Feature& feature);
  void replace(Merged& there, const ast::Feature& feature);
  void unite(Merged& there, const ast::Feature& feature);

  Arena& arena_;
  Diagnostics& diagnostics_;
};

}  // namespace radl::sema
