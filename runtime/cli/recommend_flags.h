// The flags of `radlc recommend`.
#pragma once

#include <string>

#include "runtime/cli/project.h"
#include "runtime/cli/result_file.h"
#include "runtime/cli/run_options.h"
#include "runtime/driver/recommend_question.h"

namespace radl::cli {

struct RecommendFlags : RecommendRequest {
  ProjectOptions project;
  RunOptions run;
  std::string explain, study, program;
  ResultFile write;
  double share = 0.95;  // p of Scala-Opt
  bool json = false, compare = false, as_published = false, all = false;
};

}  // namespace radl::cli
