// Folders of jobs on nodes, as recorded in the state (JobFolder). Older runs of a job end before its step
// runs or is removed. Internal to runtime/exec.
#pragma once

#include <string>
#include <vector>

#include "runtime/exec/execution.h"

namespace radl {

// Returns the record's folders plus that of its next run, which comes last. `step` must have its values.
std::vector<JobFolder> with_folder_of(const ir::Step& step, const StepRecord& record,
                                      std::vector<JobFolder> before);

// Ends earlier versions of a job and removes all but the newest folder. If `job` may still run on nodes that
// it no longer uses, ends it there. On any error, such as Lost, a node cannot confirm that nothing runs: do
// not start the job. `joins`: the plan joins the running job, so the remaining members of a training must
// notice only the loss of those that leave.
Status end_older_folders(Execution& execution, const Context& context, const ir::Step& step, bool joins,
                         std::vector<JobFolder>& folders);

// Ends the members of a job on nodes that are about to be removed; the other members continue. Skips a node
// that cannot be reached.
Status end_members(Execution& execution, const Context& context, const StepRecord& job,
                   const std::vector<std::string>& nodes);

// Ends all runs of a step and removes its folders from the nodes.
Status end_all_folders(Execution& execution, const Context& context, const std::string& step,
                       std::vector<JobFolder> folders);

}  // namespace radl
