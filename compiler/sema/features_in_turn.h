// The features of one system after another, for whoever needs those of one at a time.
#pragma once

#include <memory>

#include "compiler/sema/merge.h"
#include "compiler/syntax/parser.h"

namespace radl::sema {

class FeaturesInTurn {
 public:
  explicit FeaturesInTurn(Diagnostics& diagnostics) : merger_(arena_, diagnostics) {}

  // Good until the next call. Those of a block that was left as written (hir::Systems) are lowered and merged
  // here, in memory that the next one's take over; what contradicts itself is reported.
  const FeatureSet& of(const Definition& system) {
    const hir::Block& block = *system.block;
    if (block.written == nullptr) return system.features;
    if (block.text == nullptr) return of(*block.written);
    again_ = read_again(*block.text, block.span);
    const auto* read = again_ == nullptr ? nullptr : ast::as<ast::FeatureBlock>(again_->blocks[0]);
    return of(read == nullptr ? *block.written : read->body);
  }

  const FeatureSet& of(const ast::Features& written) {
    arena_.reuse();
    lowered_ = hir::features_of(written, arena_);
    merged_ = {};
    merger_.add(merged_, lowered_);
    return merged_;
  }

 private:
  Arena arena_;
  Merger merger_;
  hir::Features lowered_;
  FeatureSet merged_;
  std::unique_ptr<ast::Tree> again_;  // of a system whose features were taken
};

}  // namespace radl::sema
