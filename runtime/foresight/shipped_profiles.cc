#include "runtime/foresight/shipped_profiles.h"

#include <cassert>
#include <nlohmann/json.hpp>

#include "foresight/shipped_profiles_file.h"

namespace radl::foresight {
namespace {

std::vector<MeasuredProfile> read_shipped() {
  auto calibration = calibration_from_json(nlohmann::json::parse(kShippedProfiles, nullptr, false));
  assert(calibration.ok());
  return calibration.ok() ? std::move(calibration->profiles) : std::vector<MeasuredProfile>();
}

}  // namespace

const std::vector<MeasuredProfile>& shipped_profiles() {
  static const std::vector<MeasuredProfile> shipped = read_shipped();
  return shipped;
}

}  // namespace radl::foresight
