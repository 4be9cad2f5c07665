// What failed, for a reader: what failed of one and the same cause is said once.
#pragma once

#include <string>
#include <vector>

#include "runtime/exec/executor.h"

namespace radl {

// "worker[0..3]: Nova says: ...", in the order of the first of each. `log`: of one that has a log of its own;
// such failures stand alone.
struct Failure {
  Status status;
  std::string log;
};
std::vector<Failure> failures_told(const std::vector<ActionOutcome>& actions);

// "name: reason" of what was to be removed and is still there.
std::string leftover_of(const ActionOutcome& outcome);
// The report's leftovers. Those whose reason failures_told() says are one line of names,
// with what was skipped because of them: it is still there as well.
std::vector<std::string> leftovers_told(const RunReport& report);

}  // namespace radl
