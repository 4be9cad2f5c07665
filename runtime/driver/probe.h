// The programs of probes: a training or a program of the user, shortened so that it can be measured.
#pragma once

#include <optional>
#include <string>

#include "common/environment.h"
#include "compiler/ir/ir.h"
#include "runtime/foresight/calibration.h"

namespace radl::driver {

// Makes the probe's program: named "NAME-probe", with one shortened training that writes its model to the
// probe's folder and no checkpoints; without outputs and steps after jobs. Invalid: the training needs the
// result of another job.
Status make_probe(ir::Program& program, const std::string& training_id, double epochs,
                  std::optional<double> batch, const std::string& result, const Environment& environment);

// Same for a user program, with make_short_run().
Status make_program_probe(ir::Program& program, const std::string& id, double seconds,
                          const std::string& results);

// "it ran to its end in 12 s", "by its progress (epoch 3 of 10) it takes 2:00 min (..)", "it takes longer
// than 30 s".
std::string probed_text(const foresight::ProgramRun& run);

}  // namespace radl::driver
