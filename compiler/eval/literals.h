// Blocks and features whose values are literals. Internal to compiler/eval.
#pragma once

#include "compiler/eval/hir.h"

namespace radl::hir {

Features literal_features(const ast::Features& features, Arena& arena);

// Copies a feature without its value.
Feature without_value(const ast::Feature& feature);
Block without_features(const ast::FeatureBlock& block);
// The list for blocks of this kind; null for other kinds.
std::vector<Block>* blocks_of(Part& part, ast::Kind kind);

}  // namespace radl::hir
