// Summarizes failures for a reader: failures with the same cause are reported once.
#pragma once

#include <string>
#include <vector>

#include "runtime/exec/executor.h"

namespace radl {

// "worker[0..3]: Nova says: ...", ordered by first occurrence. `log`: a failure's own log; such failures are
// not combined.
struct Failure {
  Status status;
  std::string log;
};
std::vector<Failure> failures_told(const std::vector<ActionOutcome>& actions);

// "name: reason" of a resource that could not be removed.
std::string leftover_of(const ActionOutcome& outcome);
// The report's leftovers. Those whose reason failures_told() reports become one line of names, together with
// skipped dependents, which also still exist.
std::vector<std::string> leftovers_told(const RunReport& report);

}  // namespace radl
