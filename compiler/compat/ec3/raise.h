// Values of a document as syntax again: what the composition hands on is a tree, as if it had been written
// so.
#pragma once

#include "compiler/eval/hir.h"

namespace radl::ec3 {

ast::Expr* raise(const hir::Value& value, Arena& arena);
ast::Feature* raise(const hir::Feature& feature, Arena& arena);  // without its value
ast::Feature* raise(const hir::Soft& soft, Arena& arena);
List<ast::Feature*> raise(const hir::Features& features, Arena& arena);

}  // namespace radl::ec3
