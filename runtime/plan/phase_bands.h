// Errors of past phase predictions, from which the bands of new ones follow. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/foresight/run_model.h"

namespace radl {

class PhaseBands {
 public:
  // Adds a phase ("create") predicted from that source on that cloud type. Ignores values that are not
  // positive.
  void add(std::string_view phase, std::string_view cloud, std::string_view source, double predicted,
           double actual);
  // The figure with an 80% band from the errors of such predictions (conformal_quantile()); unchanged, with
  // its prior, if there are fewer than kFewest.
  foresight::Banded of(std::string_view phase, std::string_view cloud, foresight::Banded figure) const;
  static constexpr size_t kFewest = 4;

 private:
  std::map<std::string, std::vector<double>> errors_;  // absolute logarithms
};

}  // namespace radl
