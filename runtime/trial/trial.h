// Whether a file survives what clouds do: it is applied, changed, interrupted and destroyed against simulated
// clouds in virtual time, many times over, each time with other faults.
//
// In: a program. Out: what went wrong, by the seed that shows it again. Nothing real is created, connected to
// or run: steps succeed after a drawn time, or fail. With RealParts machines are nodes of this computer, and
// steps run on them.
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

// What must never be, whatever a cloud does.
struct Finding {
  enum class Kind {
    Left,       // there after a destroy that said it is done
    Doubled,    // two with one address
    Forgotten,  // in the cloud, and neither in the state nor in the journal
    Billed,     // it costs money after a destroy that said it is done
    Untrue,     // the state says what is not so
    Foreign,    // something of others was changed or destroyed
    Stuck,      // no end is reached, although the cloud is well again
    Crashed,    // radlc itself ended
  };
  Kind kind = Kind::Untrue;
  std::string text;
};
std::string_view finding_name(Finding::Kind kind);  // "left", ...
inline constexpr Finding::Kind kFindingKinds[] = {
    Finding::Kind::Left,   Finding::Kind::Doubled, Finding::Kind::Forgotten, Finding::Kind::Billed,
    Finding::Kind::Untrue, Finding::Kind::Foreign, Finding::Kind::Stuck,     Finding::Kind::Crashed};

struct TrialCounts {
  long long phases = 0;       // applies and destroys that were run
  long long interrupted = 0;  // of them by Ctrl-C
  long long killed = 0;       // of them by SIGKILL
  long long failed = 0;       // of them with an error, by a fault
  long long calls = 0;        // to the clouds
  double seconds = 0;         // of virtual time
  void add(const TrialCounts& more);
};

struct TrialSubject {
  const ir::Program& program;
  const ir::Secrets& secrets;
  const Catalog& catalog;
  World& host;  // of the user: where its files are; time and chance are its own
};

// What real nodes are made of and reached by. Kinds of steps without a runner are played.
struct RealParts {
  Environment environment;  // of the user
  Cloud* cloud = nullptr;   // makes nodes from {"hostname", "number"}, with tokens
  std::map<ir::StepKind, StepRunner*> runners;
  std::function<Result<std::unique_ptr<Remote>>(const nlohmann::json& attributes, const Context& context)>
      connect;
};

struct TrialOptions {
  uint64_t seed = 1;  // of the first run; each further one has the next
  int runs = 1000;
  simulated::Faults faults;         // each run draws how strong each of them is
  bool kill = false;                // real processes, killed with SIGKILL, in place of some interruptions
  const RealParts* real = nullptr;  // null: machines are played
  int jobs = 0;                     // processes at once; 0: one for each core
  Stop stop;
  std::function<void(size_t runs_done)> progress = [](size_t) {};
};

struct TrialRun {
  uint64_t seed = 0;
  std::vector<Finding> findings;
  TrialCounts counts;
  std::vector<std::string> events;  // a line each; only of run_trial()
};

struct TrialReport {
  size_t runs = 0, failed = 0;  // failed: with a finding
  std::map<Finding::Kind, size_t> findings;
  TrialCounts counts;
  std::vector<TrialRun> failures;  // the first ones, by seed
  bool cancelled = false;
};

// What the simulated clouds take of a program: `deploy ... CLOUD` becomes a simulated region, what names one
// real cloud's things (instance types, zones) is left out, and `notes` say so. Invalid: it cannot be had even
// there.
Result<ir::Program> program_for_trial(const TrialSubject& subject, std::vector<std::string>& notes);

// One run, with what happened in it. Uses a folder of its own, which is gone afterwards.
Result<TrialRun> run_trial(const TrialSubject& subject, const TrialOptions& options, uint64_t seed);
// Many, in several processes.
Result<TrialReport> run_trials(const TrialSubject& subject, const TrialOptions& options);

}  // namespace radl
