// Runs a short training on a temporary cluster, so that later predictions know clusters of that size,
// exchange mode and distance.
#pragma once

#include <optional>
#include <string>

#include "runtime/cli/project.h"
#include "runtime/cli/run_options.h"

namespace radl::cli {

struct ProbeRequest {
  std::string training;  // required if the file has several
  std::string
      program;  // step ID of a program of the user, to be measured instead of a training; "": a training
  double seconds = 30;  // training time, or time limit for a program
  std::optional<double> batch;
  RunOptions run;
  bool here = false;  // all nodes are on this computer: removes leftovers of killed probes first
};

// Shows the cluster and its cost, asks, creates it, trains, records the measurements, and destroys it.
// Returns the exit status.
int run_probe(const Session& session, const ProbeRequest& request, Project& project);

}  // namespace radl::cli
