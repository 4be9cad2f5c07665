// Profiles that come with radlc: of models of the zoo, on the machine that the data file names. What
// forecasts start from where nothing was measured yet.
#pragma once

#include <vector>

#include "runtime/foresight/calibration.h"

namespace radl::foresight {

const std::vector<MeasuredProfile>& shipped_profiles();

}  // namespace radl::foresight
