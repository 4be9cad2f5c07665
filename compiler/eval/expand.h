// `each` written out, and what `when` leaves out taken away: blocks of radl 2 to blocks without either.
//
// The variable of an `each` is replaced by its value (ast::Bound) in a copy of what is repeated, so nothing
// behind this knows of it. Resources keep their `each` and `when`: these may differ from node to node.
#pragma once

#include <memory>
#include <vector>

#include "compiler/eval/instance.h"

namespace radl {

// The feature `when` of a body; null when there is none.
const ast::Feature* when_of(const ast::Features& body);
// What a condition of `when` says; nullopt, with nothing reported, for Error, else after a report.
std::optional<bool> when_says(const expr::Value& value, Span at, Diagnostics& diagnostics);

// What exists, and how often, stands in plans: reports that it would depend on a secret.
void report_secret_existence(Span at, Diagnostics& diagnostics);

// Writes out one block of the instance's files at a time. A value that is asked for meanwhile may need
// another block, so that it is called again from within. The copies live in instance.made.
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
