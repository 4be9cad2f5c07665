// What a plan reports about local results folders before anything is created.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"

namespace radl {

// For the trainings and programs among the steps with these IDs: notes about shared folders. Invalid lists
// all folders that cannot take results (training/result_folder.h, program/results.h), one per line. Buckets
// are not checked.
Result<std::vector<std::string>> look_at_result_folders(const ir::Program& program,
                                                        const std::set<std::string>& steps);

}  // namespace radl
