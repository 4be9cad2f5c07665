// Decides how many nodes the systems of a project's elastic farms get (docs/farm.md).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"
#include "runtime/clouds/cloud_set.h"
#include "runtime/exec/executor.h"
#include "runtime/plan/budget.h"
#include "runtime/state/snapshot.h"

namespace radl {
struct FarmGrowth;  // runtime/plan/forecast.h
}

namespace radl::driver {

struct Project;

struct ElasticFarm {
  ir::Step step;  // with all nodes that the file allows
  ir::Node node;  // one of them
  std::string system;
  int most = 0;                // maximum number of nodes in the file
  double create_seconds = 60;  // until a new node accepts tasks (choose_farm_nodes)
};
// Returns the elastic farms of a program as in the file. Invalid: another job uses the same system.
Result<std::vector<ElasticFarm>> elastic_farms_of(const ir::Program& program,
                                                  const std::map<std::string, int>& deployed);

// Overrides the choice of farm nodes by queue.
struct FarmNodes {
  bool keep = false;  // remove no existing node (--keep)
  bool stay = false;  // nor create one, because a job is only joined
  // System -> ascending ordinals of the nodes that a running farm requested.
  std::map<std::string, std::vector<int>> asked;
  // Only remove the nodes of finished farms.
  bool frees = false;
  std::optional<Budget> budget;    // --max-cost
  std::vector<std::string> notes;  // for the plan: nodes that do not end themselves
};

// Puts the nodes of each elastic farm's system into `project.scaled`: as many as its queue justifies,
// existing ones first. While a `radlc scale` is in progress, existing nodes stay.
Status choose_farm_nodes(Project& project, const Snapshot& snapshot, const CloudSet& clouds);

// Makes nodes of elastic farms stop themselves when no radlc supervises them and no task runs. Applies where
// the cloud can do that by default and the file does not set stop.*. If the cloud cannot, a note says so.
void give_farm_leases(Project& project, const CloudSet& clouds);

// Updates `ended`, the steps of ended farms, after a round, whether they succeeded or not. Excludes farms
// with remaining tasks, because their nodes were unreachable or this computer had no space for their outputs.
void note_ended_farms(const std::vector<ElasticFarm>& farms, const RunReport& round,
                      std::set<std::string>& ended);
// Removes the failures of missing nodes from a round in which their farm succeeded without them.
void forgive_missing_nodes(const std::vector<ElasticFarm>& farms, RunReport& round);
// Returns the systems of ended farms that still have nodes, unless an unfinished farm uses them.
std::set<std::string> systems_to_free(const std::vector<ElasticFarm>& farms,
                                      const std::set<std::string>& ended, const Snapshot& after);

// Returns how far the farm may grow later under this plan: to the file's limit, within the budget. Several
// farms share what the plan leaves of the budget.
FarmGrowth growth_of(const Project& project, const Plan& plan, const ElasticFarm& elastic);

// Makes elastic farms keep all existing nodes except `lost` ones, regardless of their requests. Returns false
// if that changes nothing.
bool keep_existing_nodes(Project& project, const Snapshot& snapshot, const std::set<std::string>& lost);

// Conflict: a run supervises a farm of that system and would recreate its nodes.
Status check_farms_unsupervised(const std::vector<ElasticFarm>& farms, const std::string& system,
                                const Snapshot& now);
// Keeps only the actions of a plan that remove resources, and those that drain nodes first.
void keep_removals(Plan& plan);

// The ordinals that the project is compiled with.
std::vector<int> chosen_ordinals(const Project& project, const ElasticFarm& elastic);

// System -> the plan's explanation of the choice.
std::map<std::string, std::string> farm_systems_of(const Project& project);

}  // namespace radl::driver
