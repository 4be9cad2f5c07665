// What a plan forecasts of a farm (docs/farm.md), and what an approval of the plan allows it to take.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/driver/project.h"
#include "runtime/farm/rehearsal.h"
#include "runtime/farm/settings.h"
#include "runtime/foresight/program_model.h"
#include "runtime/plan/forecast.h"

namespace radl::driver {

bool has_farm(const ir::Step& step);

struct FarmForecast {
  foresight::ProgramForecast program;
  std::vector<farm::NodeCount> nodes;  // of an elastic farm: over the seconds of its run
  foresight::Banded paid;              // node-seconds of these nodes
};
// How long the rest of the farm takes on the step's nodes, by the lengths that its tasks are given or that
// finished tasks had, as its journal below `work_directory` knows them. Unknown: says why. A journal that
// cannot be read, or a farm that cannot run, is unknown as well. The bands are priors until four runs of the
// farm have ended; then they are learnt from how far these were off.
FarmForecast farm_forecast(const ir::Program& program, const ir::Step& step,
                           const std::string& work_directory);

// The tasks that a farm still has to run: those of the file, less what its journal below `work_directory` has
// done. Without nodes. `existing`: of the nodes, those whose outputs can still be brought.
struct FarmToBe {
  farm::Farm farm;
  farm::TrialsLeft trials;
  std::set<std::string> busy;  // nodes on which tasks run, as the journal has it
};
Result<FarmToBe> farm_to_be(const ir::Step& step, const farm::FarmSettings& settings,
                            const std::string& work_directory, const std::set<std::string>& existing);

// Tells each farm that the plan runs what was approved of it: a run that would take longer, or more
// node-seconds, than the band of its forecast pauses. `forecasts`: of the plan.
// An elastic farm also learns how many nodes it may have.
Status approve_farms(const Plan& plan, const Project& project, const std::vector<PlanForecast>& forecasts,
                     const std::string& work_directory, double at);

// Tells elastic farms that they get no more nodes than those that the project is compiled with.
Status limit_farms(const Project& project, const std::string& work_directory, double at);

}  // namespace radl::driver
