// Programs of the user's own, as runtime/foresight asks about them; and what a run of one tells.
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

// "mnist (train.py)": for people, and the same for all versions of it.
std::string program_family(const ir::Step& program);
foresight::ProgramQuestion program_question(const ir::Step& program, const foresight::MachineFacts& machine,
                                            size_t nodes);

// A program that a plan runs.
struct PlannedProgram {
  const ir::Step* step = nullptr;
  const Action* action = nullptr;
  foresight::MachineFacts machine;  // of its first node
  foresight::ProgramQuestion question;
};
std::vector<PlannedProgram> programs_in(const Plan& plan, const Project& project, const Machinery& machinery);

// The command that measures it: on this computer (`here`), or on nodes that are made for it.
std::string profile_command(const Project& project, const ir::Step& program, bool here);

// What a run of it tells, by its output (docs/ir.md); `family`, `work`, `machine`, `cores`, `gpus` and
// `nodes` are those of the question. Its time is the caller's. Invalid: the output has no time.
Result<foresight::ProgramRun> program_run(const foresight::ProgramQuestion& question, const Json& output);

// Keeps what the programs of a run took. Not those that were joined or resumed: that was a part.
Status keep_programs(const Plan& plan, const Project& project, const Machinery& machinery,
                     const RunReport& report, const Snapshot& after);

// Adds the times of programs by program_key(), where no newer run has left one.
void add_program_times(const Host& host, std::map<std::string, double>& measured);

}  // namespace radl::driver
