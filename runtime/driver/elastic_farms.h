// Elastic farms of a project (docs/farm.md): how many nodes their systems should have.
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
  int most = 0;                // nodes, as the file says
  double create_seconds = 60;  // until a new node takes tasks (choose_farm_nodes)
};
// Of a program as the file has it. Invalid: another job uses the same system.
Result<std::vector<ElasticFarm>> elastic_farms_of(const ir::Program& program,
                                                  const std::map<std::string, int>& deployed);

// What chooses the nodes of farms instead of their queues.
struct FarmNodes {
  bool keep = false;  // no existing node is removed (--keep)
  bool stay = false;  // nor is one created: a job is only joined
  // By system: ordinals, ascending, that a running farm asked for.
  std::map<std::string, std::vector<int>> asked;
  // The nodes of finished farms are removed, and nothing else is done.
  bool frees = false;
  std::optional<Budget> budget;  // --max-cost
};

// Puts the nodes of each elastic farm's system into `project.scaled`: as many as its queue pays for, existing
// ones first. If a `radlc scale` is under way, existing nodes stay.
Status choose_farm_nodes(Project& project, const Snapshot& snapshot, const CloudSet& clouds);

// Nodes of elastic farms that no radlc follows and on which no task runs end themselves, where their cloud
// can do that by default and the file does not say otherwise (stop.*).
void give_farm_leases(Project& project, const CloudSet& clouds);

// Keeps `ended`, the steps of farms that have ended, well or not, up to date with a round. A farm whose nodes
// could not be reached, or whose outputs this computer had no room for, has not: its tasks are still there.
void note_ended_farms(const std::vector<ElasticFarm>& farms, const RunReport& round,
                      std::set<std::string>& ended);
// A node that could not be made fails no round in which its farm has ended well without it.
void forgive_missing_nodes(const std::vector<ElasticFarm>& farms, RunReport& round);
// Systems of farms that have ended, as far as they have nodes and no unfinished farm uses them.
std::set<std::string> systems_to_free(const std::vector<ElasticFarm>& farms,
                                      const std::set<std::string>& ended, const Snapshot& after);

// To how many nodes the farm may grow later under this plan: those of the file, as far as the budget allows.
// Several farms share what the plan leaves of it.
FarmGrowth growth_of(const Project& project, const Plan& plan, const ElasticFarm& elastic);

// Elastic farms keep the nodes that exist, but for `lost` ones, whatever they asked for. False: they ask for
// no others anyway.
bool keep_existing_nodes(Project& project, const Snapshot& snapshot, const std::set<std::string>& lost);

// Conflict: a run works on a farm of that system, and would create its nodes again.
Status check_farms_unsupervised(const std::vector<ElasticFarm>& farms, const std::string& system,
                                const Snapshot& now);
// Keeps only the actions of a plan that remove resources, and those that drain nodes first.
void keep_removals(Plan& plan);

// The ordinals that the project is compiled with.
std::vector<int> chosen_ordinals(const Project& project, const ElasticFarm& elastic);

// By system: what a plan says of the choice.
std::map<std::string, std::string> farm_systems_of(const Project& project);

}  // namespace radl::driver
