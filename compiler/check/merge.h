// Adds features to a set and merges those of one name.
#pragma once

#include "compiler/check/document.h"

namespace radl::sema {

// True for equal texts, numbers in base units, references and elements. Random strings always differ.
bool same_value(const hir::Value& a, const hir::Value& b);
std::string_view kind_word(Merged::Kind kind);  // "a number", for messages
// Intersects an interval with further bounds; the result may be empty. `compare` returns -1, 0 or 1 for two
// numbers.
template <class Compare>
std::pair<Bound, Bound> narrowed(const Merged& there, const Bound& lower, const Bound& upper,
                                 Compare&& compare) {
  std::pair<Bound, Bound> made(there.lower, there.upper);
  if (lower.number() && (!made.first.number() || compare(*lower.number(), *made.first.number()) >= 0))
    made.first = lower;
  if (upper.number() && (!made.second.number() || compare(*upper.number(), *made.second.number()) < 0))
    made.second = upper;
  return made;
}

class Merger {
 public:
  // A contradiction replaces an earlier file's value (EC3's composition); within a file it fails.
  explicit Merger(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}
  void add(FeatureSet& set, const hir::Features& features);

 private:
  void add(FeatureSet& set, const hir::Feature& feature);
  void begin(Merged& made, const hir::Feature& feature);
  void intersect(Merged& there, const hir::Feature& feature);
  void replace(Merged& there, const hir::Feature& feature);
  void unite(Merged& there, const hir::Feature& feature);

  Diagnostics& diagnostics_;
};

}  // namespace radl::sema
