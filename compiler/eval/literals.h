// What is a value as it is written. Internal to compiler/eval.
#pragma once

#include "compiler/eval/hir.h"

namespace radl::hir {

// A literal; Expression for what has to be evaluated.
Value literal(const ast::Expr* expression, Arena& arena);
Features literal_features(const ast::Features& features, Arena& arena);

// All of a feature but its value.
Feature without_value(const ast::Feature& feature);
Block without_features(const ast::FeatureBlock& block);
// The list that blocks of this kind stand in; null for other kinds.
std::vector<Block>* blocks_of(Part& part, ast::Kind kind);

}  // namespace radl::hir
