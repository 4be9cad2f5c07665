// What a plan's trainings and programs will take, from the user's calibration; and what they took, for the
// next one.
#pragma once

#include <vector>

#include "runtime/driver/machinery.h"
#include "runtime/driver/project.h"
#include "runtime/figures/figures.h"
#include "runtime/plan/forecast.h"

namespace radl::driver {

// The kind of machine that a node of the plan is, or becomes.
foresight::MachineFacts machine_of(const Plan& plan, const std::string& node, const Machinery& machinery);

// Of each training and each program that the plan runs. Error: the calibration cannot be read.
Result<std::vector<PlanForecast>> plan_forecasts(const Plan& plan, const Project& project,
                                                 const Machinery& machinery, const Stop& stop = {});

// What the forecasts said of the longest job, with what is done around it, and of the whole run.
void predict_training(const std::vector<PlanForecast>& forecasts, RunFigures& figures);

// Keeps what the trainings and programs of a run took, for the next forecast.
Status keep_trainings(const Plan& plan, const Project& project, const Machinery& machinery,
                      const RunReport& report, const Snapshot& after);

}  // namespace radl::driver
