// One apply or destroy of a trial, like `radlc apply` and `radlc destroy`, in this process or in one that may
// be killed. Internal to runtime/trial.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/trial/trial_world.h"

namespace radl {

struct TrialPhase {
  enum class Kind {
    Apply,
    Destroy,
    Release,  // `radlc state rm` of `address`
    Rebuild,  // `radlc import --all` of `program` into a new state
  };
  Kind kind = Kind::Apply;
  std::string address;
  std::string copy;                      // folder of a copy of the state to use instead
  const ir::Program* program = nullptr;  // for Apply
  const ir::Program* beside = nullptr;   // applied by another run while a job of this one runs
  bool detach = false;
  bool refresh = false;
  OnError on_error = OnError::Keep;
  Strike strike;
  int parallelism = 1;       // with one thread, events depend only on the seed
  std::string text() const;  // "apply with refresh, Ctrl-C at point 17"
};

struct PhaseOutcome {
  Status status;
  bool struck = false;
  bool killed = false;
  bool beside = false;     // TrialPhase::beside was executed
  bool restarted = false;  // a running training was not joined although only its workers differ
  int crashed_by = 0;      // unexpected signal, or 256 + exit status
  long long calls = 0;
  std::vector<std::string> unowned;  // IDs that a destroy has listed and kept
  double ended = 0;                  // wall-clock seconds; 0: unknown
};

PhaseOutcome run_phase(TrialWorld& world, const TrialSubject& subject, const TrialPhase& phase);
// Runs in a separate process, which restores everything from files; its time begins at `wall`.
PhaseOutcome run_phase_in_child(const Setting& setting, uint64_t process, double wall,
                                const simulated::Faults& faults, const TrialPhase& phase);

// The plan that an apply of this program would show now.
Result<Plan> plan_now(TrialWorld& world, const TrialSubject& subject, const ir::Program& program,
                      const Snapshot& snapshot, const Observed* observed);

}  // namespace radl
