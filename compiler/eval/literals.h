// Conversion of literals to values. Internal to compiler/eval.
#pragma once

#include "compiler/eval/hir.h"

namespace radl::hir {

// Returns a literal's value, or Expression if it must be evaluated.
Value literal(const ast::Expr* expression, Arena& arena);
Features literal_features(const ast::Features& features, Arena& arena);

// Copies a feature without its value.
Feature without_value(const ast::Feature& feature);
Block without_features(const ast::FeatureBlock& block);
// The list for blocks of this kind; null for other kinds.
std::vector<Block>* blocks_of(Part& part, ast::Kind kind);

}  // namespace radl::hir
