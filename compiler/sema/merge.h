// Adds features to a set, uniting those of one name.
#pragma once

#include "compiler/sema/document.h"

namespace radl::sema {

class Merger {
 public:
  // With later_wins, what contradicts an earlier file replaces it (EC3's composition) instead of being an
  // error.
  Merger(Diagnostics& diagnostics, bool later_wins) : diagnostics_(diagnostics), later_wins_(later_wins) {}
  void add(FeatureSet& set, const ast::Features& features);

 private:
  void add(FeatureSet& set, const ast::Feature& feature);
  void begin(Merged& made, const ast::Feature& feature);
  void intersect(Merged& there, const ast::Feature& feature);
  void replace(Merged& there, const ast::Feature& feature);
  void unite(Merged& there, const ast::Feature& feature);

  Diagnostics& diagnostics_;
  bool later_wins_;
};

}  // namespace radl::sema
