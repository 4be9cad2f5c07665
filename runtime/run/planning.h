// Makes a program's plan with all available data: the state, observations, surveys of clouds, durations of
// earlier runs, and existing outputs and datasets.
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

// All pointers must outlive the call.
struct PlanQuestion {
  World* world = nullptr;  // a run uses its own (ActiveRun::plan)
  const ir::Program* program = nullptr;
  const ir::Secrets* secrets = nullptr;
  const CloudSet* clouds = nullptr;
  const Catalog* catalog = nullptr;
  std::set<std::string> replace, targets;  // addresses, as in PlanOptions
  std::set<std::string> lost;              // nodes to replace if the prepared program still has them
  std::string project_words;               // " FILE --state DIR", for commands suggested by the plan
  // Surveys each cloud of the program. If that fails for a cloud, the plan uses the catalogue and says so
  // (Plan::unseen).
  bool refresh = false;
  // Regions in which an apply found no capacity for a node (regions.h).
  NoRoom no_room = {};
  // Adapts the program to the state before the comparison, for example the nodes' numbers.
  std::function<Status(const Snapshot& snapshot)> prepare = {};
  // Choices of `radlc scale` used by `prepare`; null: those in the state.
  const Scalings* scaled = nullptr;
  // Called after `prepare`: PlanOptions::farm_systems.
  std::function<std::map<std::string, std::string>()> farm_systems = {};
  bool leave_jobs = false;  // PlanOptions
  std::string caller;       // PlanOptions: the requesting user's RADL_CALLER_CIDR
  // Durations of earlier runs (measured_by()); called only if the plan has actions.
  std::function<std::map<std::string, double>()> measured = {};
  // Receives a line if a surveyed cloud delays the plan; may be empty.
  std::function<void(const std::string& line)> tell = {};
  // For every wait: clouds, buckets, and inspections of models and datasets. ActiveRun::plan adds its own.
  Stop stop = {};
};

// Current surveys of the program's clouds by CloudId::text(); `failed`: clouds that could not be surveyed,
// and why. Cancelled: question.stop.
Result<std::map<std::string, Survey>> survey_clouds(const PlanQuestion& question, const ir::Program& program,
                                                    const Snapshot& snapshot,
                                                    const std::string& work_directory,
                                                    std::map<std::string, std::string>& failed);

// Plans for the state after the program's moves (state/moves.h). `observed` may be null. `work_directory`:
// the state's, for surveyed clouds. Cancelled: question.stop.
Result<Plan> make_plan_of(const PlanQuestion& question, const Snapshot& snapshot, const Observed* observed,
                          const std::string& work_directory);

}  // namespace radl
