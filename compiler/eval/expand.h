// Expands `each` and removes blocks that `when` excludes, so that neither remains.
//
// Each copy has the variable of `each` replaced by its value (ast::Bound), so later stages need not know
// about it. Resources keep their `each` and `when`, which may differ between nodes.
#pragma once

#include <memory>
#include <vector>

#include "compiler/eval/instance.h"

namespace radl {

// The feature `when` of a body; null if missing.
const ast::Feature* when_of(const ast::Features& body);
// Evaluates a `when` condition. nullopt after a report, or for Error, which was reported before.
std::optional<bool> when_says(const expr::Value& value, Span at, Diagnostics& diagnostics);

// Reports an existence or count that depends on a secret: both are visible in plans.
void report_secret_existence(Span at, Diagnostics& diagnostics);

// Expands the blocks of an instance one at a time. A value needed meanwhile may require another block, so the
// calls are reentrant. The copies live in instance.made.
class Expander {
 public:
  Expander(Instance& instance, Values& values, Diagnostics& diagnostics);
  ~Expander();
  std::vector<const ast::Block*> expanded(const ast::Block& block);

 private:
  class Expansion;
  std::unique_ptr<Expansion> expansion_;
};

}  // namespace radl
