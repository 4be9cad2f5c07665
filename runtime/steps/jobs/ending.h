// Ends a job on a node, whoever started it, and removes what it has left there.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runtime/steps/jobs/member.h"

namespace radl::jobs {

// How the processes of a job are ended: by a signal, and by KILL when the grace is over.
struct Manner {
  std::string signal = "TERM";
  std::chrono::milliseconds grace{20000};
};

// Ends every process of the job on this node: its members, what they have started, and what a launcher on
// another node has started here. Removes the line that its launcher's key has in ~/.ssh/authorized_keys.
// `stop` shortens the grace. True if any process ran. Conflict: one could not be ended.
Result<bool> end_job(Member& member, const Manner& manner, const Stop& stop);

// Before a job is started in a folder where another version of it, or a part of it, still runs: ends that on
// all nodes, side by side. `looks`: of each member.
Status end_earlier(const std::vector<std::unique_ptr<Member>>& members,
                   const std::vector<Member::Look>& looks, const Manner& manner, const Stop& stop);

// Removes the folder of a job that has ended, and the trees that only it needed.
Status remove_job(Member& member);

// Shell text: removes the line that the key of a job's launcher has in ~/.ssh/authorized_keys.
std::string remove_key_script(const std::string& job);

}  // namespace radl::jobs
