// Who runs the attempts of a farm's tasks: radlc's own agents, or a cluster's scheduler.
//
// A scheduler is a shell program on a node (agent.h). Its commands are submit (start_command) and cancel
// (stop_command, keep_command); its lines are what it observes (AgentLine); capacity is what the node
// reports, or a line. Everything else of a farm (placement, tries, outputs, journal) is the same for all of
// them. A scheduler for Kubernetes would be one more such program, which calls kubectl.
#pragma once

#include <memory>
#include <string>

#include "runtime/farm/settings.h"
#include "runtime/farm/table.h"

namespace radl::farm {

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  // As agent_script().
  virtual std::string agent(const std::string& folder, const std::string& metrics,
                            const std::string& notices) const = 0;
  // Lines before the script of an attempt: what the scheduler must know of it. `timeout_seconds`: of the
  // attempt; 0: none.
  virtual std::string header(const TaskRecord& task, double timeout_seconds) const = 0;
  // The node is the way to a cluster: it reports the cluster's capacity in lines, and the cluster's tasks
  // survive the loss of the connection. The agent itself notices attempts that have disappeared.
  virtual bool is_cluster() const = 0;
};

// It copies what it needs of the settings.
std::unique_ptr<Scheduler> scheduler_of(const FarmSettings& settings);

}  // namespace radl::farm
