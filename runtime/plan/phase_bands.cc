#include "runtime/plan/phase_bands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/foresight/epoch_model.h"

namespace radl {
namespace {

constexpr double kConfidence = 0.8;

std::string key_of(std::string_view phase, std::string_view cloud, std::string_view source) {
  return fmt::format("{} {} {}", phase, cloud, source);
}

}  // namespace

void PhaseBands::add(std::string_view phase, std::string_view cloud, std::string_view source,
                     double predicted, double actual) {
  if (!(predicted > 0) || !(actual > 0) || cloud.empty() || source.empty()) return;
  errors_[key_of(phase, cloud, source)].push_back(std::fabs(std::log(actual / predicted)));
}

foresight::Banded PhaseBands::of(std::string_view phase, std::string_view cloud,
                                 foresight::Banded figure) const {
  const auto found = errors_.find(key_of(phase, cloud, foresight::source_name(figure.source)));
  if (figure.value <= 0 || found == errors_.end() || found->second.size() < kFewest) return figure;
  std::vector<double> errors = found->second;
  std::sort(errors.begin(), errors.end());
  const double ratio = std::exp(foresight::conformal_quantile(errors, kConfidence));
  return foresight::learnt_band(std::move(figure), ratio, errors.size());
}

}  // namespace radl
