// The script that runs a task on its node.
#pragma once

#include <string>

#include "runtime/farm/table.h"
#include "runtime/steps/program/launch.h"

namespace radl::farm {

// `program`: docs/ir.md, without its `farm`. A task's `command` replaces `main` and its arguments; its
// `arguments` are appended to the program's. In them, `{NAME}` is a trial's parameter and `{task}` the task's
// name. `engine`: radl-train on the node, "" if not needed.
std::string task_script(const Json& program, const program::MemberSetting& setting,
                        const std::vector<program::Place>& places, const TaskRecord& task,
                        const std::string& engine);

// The folder with the output that an attempt continues from, below the job's folder.
std::string parent_folder(const std::string& task, int attempt);

}  // namespace radl::farm
