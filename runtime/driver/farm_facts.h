// Forecasts of farms for plans (docs/farm.md), and the limits that an approval of a plan sets.
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
  std::vector<farm::NodeCount> nodes;  // of an elastic farm, over its run
  foresight::Banded paid;              // node-seconds of these nodes
};
// Forecasts the rest of the farm on the step's nodes, from given task lengths and those of finished tasks in
// the journal below `work_directory`. If the journal cannot be read or the farm cannot run, the forecast is
// unknown and gives the reason. Bands are priors until four runs of the farm have ended, and then learned
// from the errors of these forecasts.
FarmForecast farm_forecast(const ir::Program& program, const ir::Step& step,
                           const std::string& work_directory);

// The remaining tasks of a farm: those of the file without those finished in the journal below
// `work_directory`. Without nodes. `existing`: nodes whose outputs can still be fetched.
struct FarmToBe {
  farm::Farm farm;
  farm::TrialsLeft trials;
  std::set<std::string> busy;  // nodes with running tasks, from the journal
};
Result<FarmToBe> farm_to_be(const ir::Step& step, const farm::FarmSettings& settings,
                            const std::string& work_directory, const std::set<std::string>& existing);

// Records the approval in each farm that the plan runs: a run that would exceed the band of its forecast in
// time or node-seconds pauses. Elastic farms also learn their maximum number of nodes. `forecasts`: of the
// plan.
Status approve_farms(const Plan& plan, const Project& project, const std::vector<PlanForecast>& forecasts,
                     const std::string& work_directory, double at);

// Limits elastic farms to the nodes that the project is compiled with.
Status limit_farms(const Project& project, const std::string& work_directory, double at);

}  // namespace radl::driver
