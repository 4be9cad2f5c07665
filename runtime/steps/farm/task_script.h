// The script that becomes a task on its node.
#pragma once

#include <string>

#include "runtime/farm/table.h"
#include "runtime/steps/program/launch.h"

namespace radl::farm {

// `program`: docs/ir.md, without its `farm`. A task's `command` takes the place of `main` and its arguments;
// its `arguments` follow the program's. `{NAME}` in them is the value of a parameter of a trial, `{task}` the
// task's name. `engine`: radl-train on the node, "" if the farm does not need it.
std::string task_script(const Json& program, const program::MemberSetting& setting,
                        const std::vector<program::Place>& places, const TaskRecord& task,
                        const std::string& engine);

// Where an attempt finds the output of the trial that it starts from, below the job's folder.
std::string parent_folder(const std::string& task, int attempt);

}  // namespace radl::farm
