// Which processes a training consists of, and their job files (docs/job.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/steps/step_runner.h"

namespace radl::training {

struct Task {
  std::string type;  // chief, ps, worker
  int index = 0;
  size_t node = 0;  // index in the step's nodes
  int port = 0;
  std::string name() const { return type + "/" + std::to_string(index); }  // as in progress lines
  std::string file() const { return type + "-" + std::to_string(index); }  // as in file names
};

struct Layout {
  std::vector<Task> tasks;
  size_t chief = 0;         // index in tasks: evaluates, writes checkpoints, events and the model
  bool succession = false;  // another task takes over from a lost chief (leader.h)
  bool has_servers() const;
  bool may_lead(const Task& task) const;  // it is the chief, or may take over from it
  bool needs_data(size_t node) const;     // a worker or a task that may lead runs there
  std::vector<Task> on(size_t node) const;
  // Whether the others continue without this task. One that was killed is started again, and joins them.
  bool may_lose(const Task& task) const;
};

// From training.cluster. In the modes allreduce and auto there are workers only, and worker 0 is the chief.
// Where the chief's node holds server 0 (or worker 0 and there are no servers), that process is the chief, as
// docs/job.md allows. Invalid names a node that is not one of the step's.
Result<Layout> make_layout(const Json& training, const std::vector<NodeHandle>& nodes);

// Gives workers on these nodes these numbers, and the others the lowest free ones. A worker keeps its number
// as long as it runs, whatever nodes come and go. Without servers, worker 0 is the chief then.
void number_workers(Layout& layout, const std::map<size_t, int>& numbers);

// Makes the task on this node the first chief, if it may lead: it has the newest checkpoint.
void lead_from(Layout& layout, size_t node);

// How a training stands when these tasks have ended (by Task::file(), -1: killed): it is done with its chief;
// it has failed with its last worker, or with a task that it cannot lose. `chief`: the task that leads now;
// `finished`: it has said that the run is finished.
struct Standing {
  bool done = false;
  const Task* failed = nullptr;
};
Standing standing(const Layout& layout, size_t chief, bool finished, const std::map<std::string, int>& ends);

// The addresses of all tasks of a training that starts: {"worker": ["10.0.0.2:21001", ..], ..}.
Json cluster_of(const Layout& layout, const std::vector<NodeHandle>& nodes);
// The same of a training that runs, from the job file of its chief, with the addresses of tasks that have a
// port now: workers that join it. Corrupt if one is missing.
Result<Json> cluster_of(const std::string& job, const Layout& layout, const std::vector<NodeHandle>& nodes);

// The job file of one task. `home` is the login's home on its node.
Json job_of(const Json& training, const Layout& layout, const Task& task, const Json& cluster,
            const std::vector<NodeHandle>& nodes, const std::string& home, int threads, bool resume);

// What the engine says, in the words of the training's properties: `learning_rate` for the job file's
// `schedule.peak`.
std::string in_properties(std::string text);

// Threads for each worker: 0 on machines of their own, a share of this one's cores on local nodes.
int threads_of(const Json& training, const Layout& layout, const std::vector<NodeHandle>& nodes);

}  // namespace radl::training
