// Tests whether a file survives cloud failures: applies, changes, interrupts and destroys it against
// simulated clouds in virtual time, many times, each time with other faults.
//
// In: a program. Out: the problems found, with the seeds that reproduce them. Nothing real is created,
// connected to or executed: steps succeed after a random time, or fail. With RealParts, machines are nodes of
// this computer, and steps run on them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/environment.h"
#include "common/stop.h"
#include "compiler/ir/ir.h"
#include "runtime/base/world.h"
#include "runtime/catalog/catalog.h"
#include "runtime/clouds/simulated/faults.h"

namespace radl {

class Cloud;
class Remote;
class StepRunner;
struct Context;

// A violated invariant, which must hold whatever a cloud does.
struct Finding {
  enum class Kind {
    Left,       // exists after a destroy that reported success
    Doubled,    // two resources with one address
    Forgotten,  // in the cloud, but neither in the state nor in the journal
    Billed,     // billed after a destroy that reported success
    Untrue,     // the state differs from reality
    Foreign,    // a foreign resource was changed or destroyed
    Stuck,      // no progress although the cloud has recovered
    Crashed,    // radlc itself crashed
  };
  Kind kind = Kind::Untrue;
  std::string text;
};
std::string_view finding_name(Finding::Kind kind);  // "left", ...
inline constexpr Finding::Kind kFindingKinds[] = {
    Finding::Kind::Left,   Finding::Kind::Doubled, Finding::Kind::Forgotten, Finding::Kind::Billed,
    Finding::Kind::Untrue, Finding::Kind::Foreign, Finding::Kind::Stuck,     Finding::Kind::Crashed};

struct TrialCounts {
  long long phases = 0;       // executed applies and destroys
  long long interrupted = 0;  // by Ctrl-C
  long long killed = 0;       // by SIGKILL
  long long failed = 0;       // with an error caused by a fault
  long long calls = 0;        // to the clouds
  double seconds = 0;         // of virtual time
  void add(const TrialCounts& more);
};

struct TrialSubject {
  const ir::Program& program;
  const ir::Secrets& secrets;
  const Catalog& catalog;
  World& host;  // of the user, for file locations; time and randomness are separate
};

// Parts for real nodes. Step kinds without a runner are simulated.
struct RealParts {
  Environment environment;  // of the user
  Cloud* cloud = nullptr;   // creates nodes from {"hostname", "number"}, with tokens
  std::map<ir::StepKind, StepRunner*> runners;
  std::function<Result<std::unique_ptr<Remote>>(const nlohmann::json& attributes, const Context& context)>
      connect;
};

struct TrialOptions {
  uint64_t seed = 1;  // of the first run; incremented for each further run
  int runs = 1000;
  simulated::Faults faults;         // each run turns some off, and others to 0.2 to 2 times these
  bool kill = false;                // real processes, killed with SIGKILL instead of some interruptions
  const RealParts* real = nullptr;  // null: machines are simulated
  int jobs = 0;                     // parallel processes; 0: one per core
  Stop stop;
  std::function<void(size_t runs_done)> progress = [](size_t) {};
};

struct TrialRun {
  uint64_t seed = 0;
  std::vector<Finding> findings;
  TrialCounts counts;
  std::vector<std::string> events;  // one line each; only from run_trial()
};

struct TrialReport {
  size_t runs = 0, failed = 0;  // failed: with a finding
  std::map<Finding::Kind, size_t> findings;
  TrialCounts counts;
  std::vector<TrialRun> failures;  // the first ones, by seed
  bool cancelled = false;
};

// Adapts a program for simulated clouds: `deploy ... CLOUD` becomes a simulated region, and names of real
// cloud resources (instance types, zones) are removed, which `notes` list. Invalid: even simulated clouds
// cannot satisfy it.
Result<ir::Program> program_for_trial(const TrialSubject& subject, std::vector<std::string>& notes);

// One run with its events. Uses its own folder, which is removed afterwards.
Result<TrialRun> run_trial(const TrialSubject& subject, const TrialOptions& options, uint64_t seed);
// Many runs, in several processes.
Result<TrialReport> run_trials(const TrialSubject& subject, const TrialOptions& options);

}  // namespace radl
