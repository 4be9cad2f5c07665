// Folders of jobs on nodes, as the state knows them (JobFolder): what older ones run ends before a step runs
// or is forgotten. Internal to runtime/exec.
#pragma once

#include <string>
#include <vector>

#include "runtime/exec/execution.h"

namespace radl {

// The record's folders with that of its next run, which is the last of them. `step`: with its values.
std::vector<JobFolder> with_folder_of(const ir::Step& step, const StepRecord& record,
                                      std::vector<JobFolder> before);

// Ends what runs in folders of earlier versions of a job, and removes all but the newest of them. Where
// `job` may still run on nodes that it is not for any more, it is ended there. Lost, or another failure: a
// node cannot say that nothing runs; the job must not be started then. `joins`: the plan joins the job where
// it runs, so the members of a training that stay must not notice more than the loss of those that leave.
Status end_older_folders(Execution& execution, const Context& context, const ir::Step& step, bool joins,
                         std::vector<JobFolder>& folders);

// Ends the members of a job on nodes that are about to be removed; the other members continue. Skips a node
// that cannot be reached.
Status end_members(Execution& execution, const Context& context, const StepRecord& job,
                   const std::vector<std::string>& nodes);

// Ends all of them and removes them from their nodes.
Status end_all_folders(Execution& execution, const Context& context, const std::string& step,
                       std::vector<JobFolder> folders);

}  // namespace radl
