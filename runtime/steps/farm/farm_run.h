// Runs a program that has a `farm`: its tasks on the step's nodes, packed by what they need (docs/farm.md).
//
// The farm's journal and outputs are in `<work directory>/farms/<job>/` on this computer. A run that was
// killed resumes from them: tasks that run meanwhile are joined, and those that have ended are collected.
#pragma once

#include <string>

#include "runtime/steps/step_runner.h"

namespace radl::farm {

Result<StepOutcome> run_farm(const StepContext& context, const ir::Step& step,
                             const std::vector<NodeHandle>& nodes);

// Folders and files of a farm, for reading it and requesting changes.
inline std::string farms_folder(const std::string& work_directory) { return work_directory + "/farms"; }
inline constexpr const char* kSharingFolder = ".sharing";  // share_board.h; of all farms
inline constexpr const char* kInboxFolder = "/inbox";      // events (table.h) to be taken, one file each

}  // namespace radl::farm
