// What a plan forecasts of a farm (docs/farm.md), and what an approval of the plan allows it to take.
#pragma once

#include <string>
#include <vector>

#include "runtime/driver/project.h"
#include "runtime/foresight/program_model.h"
#include "runtime/plan/forecast.h"

namespace radl::driver {

bool has_farm(const ir::Step& step);

// How long the rest of the farm takes on the step's nodes, by the lengths that its tasks are given or that
// finished tasks had, as its journal below `work_directory` knows them. Unknown: says why. A journal that
// cannot be read, or a farm that cannot run, is unknown as well.
foresight::ProgramForecast farm_forecast(const ir::Program& program, const ir::Step& step,
                                         const std::string& work_directory);

// Tells each farm that the plan runs what was approved of it: a run that would take longer than the band of
// its forecast pauses. `forecasts`: of the plan.
Status approve_farms(const Plan& plan, const ir::Program& program, const std::vector<PlanForecast>& forecasts,
                     const std::string& work_directory, double at);

}  // namespace radl::driver
