// Factors learned from runs for each exchange mode: how much more or less computing, bytes and round trips
// count than in the formulas of step_model.h. An implementation's exchange may overlap what a formula adds
// up, or need one round trip instead of two. Such effects appear in every cluster, so few runs suffice to
// learn them.
//
// In: the formulas as functions of the factors, and measurements. Out: factors, regularized towards 1.
// Pure.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "runtime/foresight/step_model.h"

namespace radl::foresight {

struct ExchangeFactors {
  double compute = 1, bytes = 1, round_trips = 1;
  bool none() const { return compute == 1 && bytes == 1 && round_trips == 1; }
};

// The machine and network with the factors applied.
NodeProfile adjusted(NodeProfile node, const ExchangeFactors& factors);
Fabric adjusted(Fabric fabric, const ExchangeFactors& factors);

struct MeasuredRun {
  std::function<double(const ExchangeFactors&)> predicted;  // seconds, above 0
  double seconds = 0;                                       // above 0
  bool profiled = false;                                    // computing was measured on this machine type
};

// The most likely factors, assuming errors of 10% for logarithms of times and a normal prior around 1 with
// 40% for factors, or 4% for computing if it was measured on the same machines. Levenberg-Marquardt on the
// logarithms, with a bounded number of steps. No runs: all 1.
ExchangeFactors fit_factors(const std::vector<MeasuredRun>& runs);

}  // namespace radl::foresight
