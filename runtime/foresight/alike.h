// Decides whether a question resembles a measurement. Internal to runtime/foresight.
#pragma once

#include "runtime/foresight/calibration.h"
#include "runtime/foresight/facts.h"

namespace radl::foresight {

Exchange exchange_of(const TrainingRun& run);
// As measured by the run's links, else the default guess for such machines.
double round_trip_of(const TrainingRun& run);
bool alike_in_distance(double round_trip, double other);
// Scales a profile to `work` in proportion to the arithmetic.
NodeProfile scaled_to(const Work& work, const MeasuredProfile& profile);

}  // namespace radl::foresight
