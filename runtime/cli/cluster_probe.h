// Runs a short training on a temporary cluster, so that later predictions know clusters of that size,
// exchange mode and distance.
#pragma once

#include <optional>
#include <string>

#include "runtime/cli/project.h"
#include "runtime/cli/run_options.h"
#include "runtime/foresight/calibration.h"

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

// Makes the probe's program: named "NAME-probe", with one shortened training that writes its model to the
// probe's folder and no checkpoints; without outputs and steps after jobs. Invalid: the training needs the
// result of another job.
Status make_probe(ir::Program& program, const std::string& training_id, double epochs,
                  std::optional<double> batch, const std::string& result, const Environment& environment);

// Same for a user program, with driver::make_short_run().
Status make_program_probe(ir::Program& program, const std::string& id, double seconds,
                          const std::string& results);

// "it ran to its end in 12 s", "by its progress (epoch 3 of 10) it takes 2:00 min (..)", "it takes longer
// than 30 s".
std::string probed_text(const foresight::ProgramRun& run);

// Shows the cluster and its cost, asks, creates it, trains, records the measurements, and destroys it.
// Returns the exit status.
int run_probe(const Session& session, const ProbeRequest& request, Project& project);

}  // namespace radl::cli
