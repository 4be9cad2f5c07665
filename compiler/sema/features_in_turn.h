// The features of one system after another, for whoever needs those of one at a time.
#pragma once

#include "compiler/sema/merge.h"

namespace radl::sema {

class FeaturesInTurn {
 public:
  explicit FeaturesInTurn(Diagnostics& diagnostics) : merger_(arena_, diagnostics) {}

  // Good until the next call. Those of a block that was left as written (hir::Systems) are lowered and merged
  // here, in memory that the next one's take over; what contradicts itself is reported.
  const FeatureSet& of(const Definition& system) {
    if (system.block->written == nullptr) return system.features;
    arena_.reuse();
    lowered_ = hir::features_of(*system.block, arena_);
    merged_ = {};
    merger_.add(merged_, lowered_);
    return merged_;
  }

 private:
  Arena arena_;
  Merger merger_;
  hir::Features lowered_;
  FeatureSet merged_;
};

}  // namespace radl::sema
