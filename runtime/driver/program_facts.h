// Converts user programs to questions for runtime/foresight, and runs of them to measurements.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/driver/machinery.h"
#include "runtime/driver/project.h"
#include "runtime/foresight/facts.h"
#include "runtime/foresight/program_model.h"
#include "runtime/plan/plan.h"

namespace radl::driver {

// "mnist (train.py)": for display; the same for all versions of a program.
std::string program_family(const ir::Step& program);
foresight::ProgramQuestion program_question(const ir::Step& program, const foresight::MachineFacts& machine,
                                            size_t nodes);

// A program run by a plan.
struct PlannedProgram {
  const ir::Step* step = nullptr;
  const Action* action = nullptr;
  foresight::MachineFacts machine;  // of its first node
  foresight::ProgramQuestion question;
};
std::vector<PlannedProgram> programs_in(const Plan& plan, const Project& project, const Machinery& machinery);

// The command that measures it: on this computer (`here`), or on nodes created for the purpose.
std::string profile_command(const Project& project, const ir::Step& program, bool here);

// The measurement of a run, from its output (docs/ir.md). `family`, `work`, `machine`, `cores`, `gpus` and
// `nodes` come from the question; the caller sets the time. Invalid: the output has no time.
Result<foresight::ProgramRun> program_run(const foresight::ProgramQuestion& question, const Json& output);

// Records the durations of a run's programs, except joined or resumed ones, which ran only partly.
Status keep_programs(const Plan& plan, const Project& project, const Machinery& machinery,
                     const RunReport& report, const Snapshot& after);

// Adds durations of programs by program_key(), unless a newer run has left one.
void add_program_times(const Host& host, std::map<std::string, double>& measured);

}  // namespace radl::driver
