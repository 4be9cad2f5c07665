// How long a program of the user's own runs, from what earlier runs of it took. Pure. docs/model.md.
//
// radlc does not know what a program computes. Evidence, best first: runs of this version on such nodes; of
// this version on other numbers of nodes or other machine types; of other versions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/foresight/calibration.h"
#include "runtime/foresight/run_model.h"

namespace radl::foresight {

struct ProgramQuestion {
  std::string work, family;  // as of ProgramRun
  std::string machine;       // kind of one node
  double cores = 0;          // of one node; 0: not known
  double gpus = 0;           // of one node
  int nodes = 1;
};

struct ProgramForecast {
  Banded run;           // unknown: see `at_least` and `unknown`
  double at_least = 0;  // seconds; 0: no bound. A run was ended after so long, and printed no progress
  // Why no measured run can be compared with the question; empty: one can.
  std::string outside;
  std::string unknown;  // why `run` is unknown
  bool by_other_version = false;
};

class ProgramModel {
 public:
  explicit ProgramModel(std::vector<ProgramRun> runs) : runs_(std::move(runs)) {}  // oldest first
  ProgramForecast forecast(const ProgramQuestion& question) const;
  // The numbers of nodes of which a run of this work is known, with the machine type that is asked about;
  // ascending.
  std::vector<int> sizes(std::string_view work, std::string_view machine) const;
  // Whether any run tells the time of this work: one that was ended early without progress does not.
  bool knows(std::string_view work) const;

 private:
  std::vector<ProgramRun> runs_;
};

}  // namespace radl::foresight
