// How far predictions of a phase have been off, for the bands of the next. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/foresight/run_model.h"

namespace radl {

class PhaseBands {
 public:
  // Of a phase ("create") that was predicted from that source on that type of cloud. What is not above 0 says
  // nothing.
  void add(std::string_view phase, std::string_view cloud, std::string_view source, double predicted,
           double actual);
  // The figure with the band at 80% of what such predictions were off by (conformal_quantile()); as it is,
  // with its prior, where fewer than kFewest have been.
  foresight::Banded of(std::string_view phase, std::string_view cloud, foresight::Banded figure) const;
  static constexpr size_t kFewest = 4;

 private:
  std::map<std::string, std::vector<double>> errors_;  // absolute logarithms
};

}  // namespace radl
