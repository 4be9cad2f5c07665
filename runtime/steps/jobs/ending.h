// Ends a job on a node, regardless of who started it, and removes its leftovers.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runtime/steps/jobs/member.h"

namespace radl::jobs {

// How a job's processes are ended: by a signal, then KILL after the grace period.
struct Manner {
  std::string signal = "TERM";
  std::chrono::milliseconds grace{20000};
};

// Ends every process of the job on this node: members, their children, and processes started here by a
// launcher on another node. Removes the launcher key's line from ~/.ssh/authorized_keys. `stop` shortens the
// grace period. True if any process ran. Conflict: one could not be ended.
Result<bool> end_job(Member& member, const Manner& manner, const Stop& stop);

// Before a job starts in a folder where another version, or part of it, still runs: ends that on all nodes
// concurrently. `looks`: of each member.
Status end_earlier(const std::vector<std::unique_ptr<Member>>& members,
                   const std::vector<Member::Look>& looks, const Manner& manner, const Stop& stop);

// Removes the folder of an ended job, and the trees that only it needed.
Status remove_job(Member& member);

// Shell text that removes the line of a job's launcher key from ~/.ssh/authorized_keys.
std::string remove_key_script(const std::string& job);

}  // namespace radl::jobs
