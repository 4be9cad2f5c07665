// A short training on a cluster that is made for it and taken down again, so that the next prediction knows
// clusters of that size, way of exchanging and distance.
#pragma once

#include <optional>
#include <string>

#include "runtime/cli/project.h"
#include "runtime/cli/run_options.h"
#include "runtime/foresight/calibration.h"

namespace radl::cli {

struct ProbeRequest {
  std::string training;  // which, where the file has several
  std::string
      program;  // id of the step of a program of the user's own, in place of a training; "": a training
  double seconds = 30;  // of training; of a program at most so long
  std::optional<double> batch;
  RunOptions run;
  bool here = false;  // all nodes are of this computer: what a killed probe has left there is removed first
};

// The program of the probe: named "NAME-probe", with one training, so short, whose model goes to a folder of
// the probe's own and which writes no checkpoints; without outputs and whatever comes after jobs. Invalid:
// the training needs what another job gives.
Status make_probe(ir::Program& program, const std::string& training_id, double epochs,
                  std::optional<double> batch, const std::string& result, const Environment& environment);

// The same of a program of the user's own, by driver::make_short_run().
Status make_program_probe(ir::Program& program, const std::string& id, double seconds,
                          const std::string& results);

// "it ran to its end in 12 s", "by its progress (epoch 3 of 10) it takes 2:00 min (..)", "it takes longer
// than 30 s".
std::string probed_text(const foresight::ProgramRun& run);

// Shows what would be made and what it costs, asks, makes it, trains, keeps what it took, takes it down.
// The exit status.
int run_probe(const Session& session, const ProbeRequest& request, Project& project);

}  // namespace radl::cli
