// What a plan says about the folders of this computer that results are to go to, before anything is made.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"

namespace radl {

// Of the trainings and programs among the steps with these ids: notes about what is theirs together. Invalid
// with all that cannot take results (training/result_folder.h, program/results.h), a line each. Buckets are
// not asked.
Result<std::vector<std::string>> look_at_result_folders(const ir::Program& program,
                                                        const std::set<std::string>& steps);

}  // namespace radl
