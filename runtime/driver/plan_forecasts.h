// Forecasts a plan's trainings and programs from the user's calibration, and records their actual times for
// later forecasts.
#pragma once

#include <vector>

#include "runtime/driver/machinery.h"
#include "runtime/driver/project.h"
#include "runtime/figures/figures.h"
#include "runtime/plan/forecast.h"

namespace radl::driver {

// Returns the machine type that a node of the plan has or gets.
foresight::MachineFacts machine_of(const Plan& plan, const std::string& node, const Machinery& machinery);

// One for each training and program that the plan runs. Error: the calibration cannot be read.
Result<std::vector<PlanForecast>> plan_forecasts(const Plan& plan, const Project& project,
                                                 const Machinery& machinery, const Stop& stop = {});

// Copies the forecasts of the longest job with its surroundings, and of the whole run, into `figures`.
void predict_training(const std::vector<PlanForecast>& forecasts, RunFigures& figures);

// Records the times of a run's trainings and programs for later forecasts.
Status keep_trainings(const Plan& plan, const Project& project, const Machinery& machinery,
                      const RunReport& report, const Snapshot& after);

}  // namespace radl::driver
