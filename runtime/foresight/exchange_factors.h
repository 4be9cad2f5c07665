// What runs teach about the parts of a step: by how much computing, bytes and round trips count for more or
// less than the formulas of step_model.h say, for each way of exchanging. A product's exchange may overlap
// what a formula adds up, or take one round trip where it says two; that shows in every cluster alike, so it
// is learnt from few runs and holds far from them.
//
// In: what the formulas say as a function of the factors, and what was measured. Out: factors, drawn
// towards 1. Pure.
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

// The machine and the network as such an exchange finds them.
NodeProfile adjusted(NodeProfile node, const ExchangeFactors& factors);
Fabric adjusted(Fabric fabric, const ExchangeFactors& factors);

struct MeasuredRun {
  std::function<double(const ExchangeFactors&)> predicted;  // seconds, above 0
  double seconds = 0;                                       // above 0
  bool profiled = false;  // computing was measured on this very kind of machine
};

// The likeliest factors when logarithms of times err by 10% and those of factors by 40% (a normal prior
// around 1), but that of computing by 4% where it was measured on the same machines; Levenberg-Marquardt on
// the logarithms, at most a fixed number of steps. No runs: all 1.
ExchangeFactors fit_factors(const std::vector<MeasuredRun>& runs);

}  // namespace radl::foresight
