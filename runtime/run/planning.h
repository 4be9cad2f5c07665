// The plan of a program with everything that is known around it: the state, what was observed, what clouds
// say they offer, what earlier runs took, and which outputs and datasets are there.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "common/stop.h"
#include "runtime/base/world.h"
#include "runtime/catalog/catalog.h"
#include "runtime/clouds/cloud_set.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/regions.h"

namespace radl {

// All pointers outlive the call.
struct PlanQuestion {
  World* world = nullptr;  // of a run: its own (ActiveRun::plan)
  const ir::Program* program = nullptr;
  const ir::Secrets* secrets = nullptr;
  const CloudSet* clouds = nullptr;
  const Catalog* catalog = nullptr;
  std::set<std::string> replace, targets;  // addresses: PlanOptions
  std::set<std::string> lost;              // nodes to replace if the program, once prepared, still has them
  std::string project_words;               // " FILE --state DIR", for commands that a plan tells to type
  // Surveys each cloud of the program; one that cannot be is planned from the catalogue and says so
  // (Plan::unseen).
  bool refresh = false;
  // Regions that an apply has found to have no room for a node (regions.h).
  NoRoom no_room = {};
  // Brings the program in line with the state before anything is compared, for example its nodes' numbers.
  std::function<Status(const Snapshot& snapshot)> prepare = {};
  // What `radlc scale` has chosen, as `prepare` has compiled it; null: what the state has.
  const Scalings* scaled = nullptr;
  // Asked after `prepare`: PlanOptions::farm_systems.
  std::function<std::map<std::string, std::string>()> farm_systems = {};
  bool leave_jobs = false;  // PlanOptions
  std::string caller;       // PlanOptions: RADL_CALLER_CIDR of whoever asks
  // What earlier runs took (measured_by()); called where the plan does something.
  std::function<std::map<std::string, double>()> measured = {};
  // Hears a line where a cloud that is surveyed keeps the plan waiting; none: nobody.
  std::function<void(const std::string& line)> tell = {};
  // Of every wait: for clouds, buckets, and looks at models and datasets. ActiveRun::plan adds its own.
  Stop stop = {};
};

// What the program's clouds have on offer now, by CloudId::text(); `failed`: why not, for those that do not
// say. Cancelled: question.stop.
Result<std::map<std::string, Survey>> survey_clouds(const PlanQuestion& question, const ir::Program& program,
                                                    const Snapshot& snapshot,
                                                    const std::string& work_directory,
                                                    std::map<std::string, std::string>& failed);

// Of the state as the program's moves make it (state/moves.h). `observed` may be null. `work_directory`: the
// state's, for clouds that are surveyed. Cancelled: question.stop.
Result<Plan> make_plan_of(const PlanQuestion& question, const Snapshot& snapshot, const Observed* observed,
                          const std::string& work_directory);

}  // namespace radl
