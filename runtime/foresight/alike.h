// When a question is like what was measured. Internal to runtime/foresight.
#pragma once

#include "runtime/foresight/calibration.h"
#include "runtime/foresight/facts.h"

namespace radl::foresight {

Exchange exchange_of(const TrainingRun& run);
// As the run's links found it, else the guess for such machines.
double round_trip_of(const TrainingRun& run);
bool alike_in_distance(double round_trip, double other);
// The profile's machine as it would compute `work`, in proportion to the arithmetic.
NodeProfile scaled_to(const Work& work, const MeasuredProfile& profile);

}  // namespace radl::foresight
