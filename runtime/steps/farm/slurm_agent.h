// The agent of a farm on the login node of a Slurm cluster: agent.h's commands and lines, and Slurm's
// commands behind them. The login node and the machines share the folder of the job.
//
//   ~/.radl/jobs/<job>/elsewhere              ends attempts without an agent (jobs/process_script.h)
//                      <task>.<attempt>.elsewhere     from submission to the end
//                      farm/name              of all its jobs in Slurm, with .<array> behind it
//                      farm/new/<id>          not submitted yet
//                      farm/arrays/<array>/   ids, one a line: the index of each is its line; job: number
//                      farm/told/<id>         lines of the attempt; farm/ended/<id>: its end is told
//                      farm/kill/<id>         a signal that is due
//                      farm/<id>/slurm        its array and index; farm/<id>/began: the attempt has been
//                                             claimed, by the job that runs it, or by the agent that gave it
//                                             up
//                      farm/<id>/gone   why Slurm has no job of it any more, and it has no end
//
// Each attempt runs at most once, whatever Slurm does: the job that runs it must own its array and make
// `began`. Slurm does not requeue: radlc starts the next attempt. What Slurm has forgotten is decided by what
// the attempt left in its folder.
#pragma once

#include <string>

#include "runtime/farm/settings.h"

namespace radl::farm {

std::string slurm_agent_script(const std::string& folder, const std::string& metrics,
                               const SlurmSettings& settings);

}  // namespace radl::farm
