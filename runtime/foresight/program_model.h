// Predicts the duration of a user program from its earlier runs. Pure. docs/model.md.
//
// radlc does not know what a program computes. Evidence in order of priority: runs of this version on such
// nodes; of this version on other node counts or machine types; of other versions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/foresight/calibration.h"
#include "runtime/foresight/run_model.h"

namespace radl::foresight {

struct ProgramQuestion {
  std::string work, family;  // as in ProgramRun
  std::string machine;       // machine type of a node
  double cores = 0;          // per node; 0: unknown
  double gpus = 0;           // per node
  int nodes = 1;
};

struct ProgramForecast {
  Banded run;           // if unknown: see `at_least` and `unknown`
  double at_least = 0;  // 0: no bound. A run was ended after this time without progress output
  // Why no measured run is comparable; empty: one is.
  std::string outside;
  std::string unknown;  // why `run` is unknown
  bool by_other_version = false;
};

class ProgramModel {
 public:
  explicit ProgramModel(std::vector<ProgramRun> runs) : runs_(std::move(runs)) {}  // oldest first
  ProgramForecast forecast(const ProgramQuestion& question) const;
  // Node counts of known runs of this work on this machine type,
  // ascending.
  std::vector<int> sizes(std::string_view work, std::string_view machine) const;
  // True if any run shows this work's duration; one ended early without progress does not.
  bool knows(std::string_view work) const;

 private:
  std::vector<ProgramRun> runs_;
};

}  // namespace radl::foresight
