// What a plan's trainings will take, from the user's calibration; and what they took, for the next one.
#pragma once

#include <vector>

#include "runtime/cli/machinery.h"
#include "runtime/cli/project.h"
#include "runtime/plan/forecast.h"
#include "runtime/runs/figures.h"

namespace radl::cli {

// Of each training that the plan runs. A calibration that cannot be read is a note on standard error, and
// none.
std::vector<PlanForecast> plan_forecasts(const Plan& plan, const Project& project, const Machinery& machinery,
                                         const Stop& stop = {});

// What the forecasts said of the longest training, with what is done around it, and of the whole run.
void predict_training(const std::vector<PlanForecast>& forecasts, RunFigures& figures);

// Keeps what the trainings of a run took. That it cannot be kept is a note, no error.
void keep_trainings(const Plan& plan, const Project& project, const Machinery& machinery,
                    const RunReport& report, const Snapshot& after);

}  // namespace radl::cli
