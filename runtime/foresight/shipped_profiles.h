// Profiles shipped with radlc: zoo models on the machine named in the data file. Starting point of forecasts
// until something is measured.
#pragma once

#include <vector>

#include "runtime/foresight/calibration.h"

namespace radl::foresight {

const std::vector<MeasuredProfile>& shipped_profiles();

}  // namespace radl::foresight
