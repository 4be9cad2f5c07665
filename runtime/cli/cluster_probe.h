// A short training on a cluster that is made for it and taken down again, so that the next prediction knows
// clusters of that size, way of exchanging and distance.
#pragma once

#include <optional>
#include <string>

#include "runtime/cli/project.h"
#include "runtime/cli/run_options.h"

namespace radl::cli {

struct ProbeRequest {
  std::string training;  // which, where the file has several
  double seconds = 30;   // of training
  std::optional<double> batch;
  RunOptions run;
};

// The program of the probe: named "NAME-probe", with one training, so short, whose model goes to a folder of
// the probe's own and which writes no checkpoints; without outputs and whatever comes after jobs. Invalid:
// the training needs what another job gives.
Status make_probe(ir::Program& program, const std::string& training_id, double epochs,
                  std::optional<double> batch, const std::string& result);

// Shows what would be made and what it costs, asks, makes it, trains, keeps what it took, takes it down.
// The exit status.
int run_probe(const Session& session, const ProbeRequest& request, Project& project);

}  // namespace radl::cli
